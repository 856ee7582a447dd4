"""Every head and every sub-layer belongs to one kind."""

from tests.small_translator import small_translator
from transformer_course.looking.ablation import every_head
from transformer_course.what_can_be_removed.parts import heads_of, sublayers_of


def test_every_head_belongs_to_one_kind():
    model = small_translator().model
    kinds = heads_of(model)
    assert list(kinds) == ["encoder self-attention", "decoder self-attention", "cross-attention"]
    assert sorted(sum(kinds.values(), [])) == sorted(every_head(model))
    for kind, heads in kinds.items():
        place = "decoder" if kind.startswith("cross") else kind.split()[0]
        assert all(name.startswith(place) for name, _ in heads)


def test_every_sublayer_belongs_to_one_kind():
    model = small_translator().model
    layers = range(model.config.num_layers)
    assert sublayers_of(model) == {
        f"{stack} {sublayer.replace('_', '-')}": [
            f"{stack}.layers.{layer}.{sublayer}" for layer in layers
        ]
        for stack, sublayer in (
            ("encoder", "self_attention"),
            ("encoder", "feed_forward"),
            ("decoder", "self_attention"),
            ("decoder", "cross_attention"),
            ("decoder", "feed_forward"),
        )
    }
