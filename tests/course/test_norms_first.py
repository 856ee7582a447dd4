"""The reader's classes with their norms moved are the package's pre-norm model."""

import torch
from torch import nn

from transformer_course import our_transformer
from transformer_course.norms_first import put_norms_first
from transformer_edu.model.transformer import Transformer, TransformerConfig

SIZES = {"vocabulary_size": 23, "d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20}


def pre_norm_model():
    package = Transformer(TransformerConfig(**SIZES, norm_first=True)).eval()
    for weight in package.parameters():
        nn.init.normal_(weight, std=0.5)
    return package


def test_with_the_norms_first_it_is_the_packages_pre_norm_model():
    package, own = pre_norm_model(), our_transformer.Transformer(**SIZES).eval()
    put_norms_first(own)
    own.load_state_dict(package.state_dict())
    source, target = torch.tensor([[5, 6, 7, 0]]), torch.tensor([[1, 8, 9]])
    torch.testing.assert_close(own(source, target), package(source, target))


def test_a_stack_alone_can_have_its_norms_first_too():
    package, own = pre_norm_model().encoder, our_transformer.Encoder(2, 12, 3, 20).eval()
    put_norms_first(own)
    own.load_state_dict(package.state_dict())
    x = torch.randn(2, 5, 12)
    torch.testing.assert_close(own(x), package(x))
