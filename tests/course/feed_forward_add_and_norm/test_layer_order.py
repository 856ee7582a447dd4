"""The norms stand where the layer computes them."""

from transformer_course.feed_forward_add_and_norm.layer_order import (
    STREAM,
    describe_layer_order,
    plot_layer_order,
)
from transformer_edu.model.encoder import EncoderLayer


def layer(*, norm_first):
    return EncoderLayer(d_model=6, num_heads=2, d_ff=9, norm_first=norm_first)


POST, PRE = layer(norm_first=False), layer(norm_first=True)


def norms_on_the_stream(axes):
    return [
        text
        for text in axes.texts
        if text.get_text() == "Norm" and abs(text.get_position()[0] - STREAM) < 0.01
    ]


def heights(axes, word):
    return sorted(text.get_position()[1] for text in axes.texts if text.get_text() == word)


def test_norms_stand_on_the_stream_in_post_norm_only():
    post, pre = plot_layer_order(POST, PRE, title="two orders").axes
    assert len(norms_on_the_stream(post)) == 2
    assert len(norms_on_the_stream(pre)) == 0
    assert len(heights(post, "Norm")) == len(heights(pre, "Norm")) == 2


def test_the_norm_comes_before_the_sub_layer_in_pre_norm_and_after_it_in_post_norm():
    post, pre = plot_layer_order(POST, PRE, title="two orders").axes
    assert heights(pre, "Norm")[0] < heights(pre, "Self-attention")[0]
    assert heights(post, "Norm")[0] > heights(post, "Self-attention")[0]


def test_dropout_stands_on_the_branch():
    for axes in plot_layer_order(POST, PRE, title="two orders").axes:
        places = [text.get_position()[0] for text in axes.texts if text.get_text() == "Dropout"]
        assert len(places) == 2 and min(places) > STREAM + 1


def test_each_panel_names_its_switch():
    post, pre = plot_layer_order(POST, PRE, title="two orders").axes
    assert post.get_title(loc="left") == "norm_first=False: post-norm, the paper's"
    assert pre.get_title(loc="left") == "norm_first=True: pre-norm"


def test_the_words_follow_the_switch_too():
    assert "norm stands on the stream" in describe_layer_order(POST)
    assert "stream runs straight up" in describe_layer_order(PRE)
