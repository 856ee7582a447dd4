"""A cache saves work and changes nothing: every step equals the whole computed at once."""

import dataclasses
import itertools

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.cache import DecoderCache, KeyValueCache
from transformer_edu.model.transformer import Transformer, TransformerConfig

VOCABULARY, LAYERS, TARGET = 11, 2, 6
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 0, 0, 0], [10, 10, 6, 0, 0]])
# The second row holds padding in the middle, as a model may write it.
TARGET_IDS = torch.tensor([[1, 5, 8, 10, 4, 4], [1, 0, 7, 0, 5, 2], [1, 6, 6, 9, 2, 0]])
SWITCHES = [
    {"norm_first": norm_first, "bias": bias, "final_norm": final_norm, "tie_embeddings": tied}
    for norm_first, bias, final_norm, tied in itertools.product([False, True], repeat=4)
]
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-10}


def build(dtype: torch.dtype = torch.float32, **switches: bool) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": LAYERS, "d_ff": 20, "max_length": 9}
    return Transformer(TransformerConfig(vocabulary_size=VOCABULARY, **sizes, **switches)).to(dtype)


def new_cache() -> DecoderCache:
    return DecoderCache(num_layers=LAYERS)


@torch.no_grad()
def step_by_step(
    model: Transformer, source_ids: Tensor, target_ids: Tensor, cuts: list[int]
) -> Tensor:
    """Logits of all positions, computed piece by piece from a cache."""
    model.eval()
    memory, source_mask = model.encode(source_ids), model.source_mask(source_ids)
    cache = new_cache()
    pieces = []
    for piece in target_ids.tensor_split(cuts, dim=1):
        decoded = model.decode(piece, memory, source_mask=source_mask, cache=cache)
        pieces.append(model.project(decoded))
    assert cache.length == target_ids.size(1)
    return torch.cat(pieces, dim=1)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("cuts", [[1, 2, 3, 4, 5], [2, 5]], ids=["one by one", "in pieces"])
def test_every_step_equals_the_whole_in_padded_batches_whatever_the_switches(dtype, switches, cuts):
    model = build(dtype, **switches)
    found = step_by_step(model, SOURCE_IDS, TARGET_IDS, cuts)
    with torch.no_grad():
        whole = model(SOURCE_IDS, TARGET_IDS)
    torch.testing.assert_close(found, whole, rtol=0, atol=TOLERANCES[dtype])


@torch.no_grad()
def test_a_kept_row_goes_on_as_if_it_had_always_been_where_it_is():
    model = build().eval()
    rows = torch.tensor([2, 0])
    memory, source_mask = model.encode(SOURCE_IDS), model.source_mask(SOURCE_IDS)
    cache = new_cache()
    model.decode(TARGET_IDS[:, :4], memory, source_mask=source_mask, cache=cache)
    cache.keep(rows)
    decoded = model.decode(
        TARGET_IDS[rows, 4:], memory[rows], source_mask=source_mask[rows], cache=cache
    )
    expected = model(SOURCE_IDS[rows], TARGET_IDS[rows])[:, 4:]
    torch.testing.assert_close(model.project(decoded), expected)
    assert torch.equal(cache.token_ids, TARGET_IDS[rows])


@torch.no_grad()
def test_rows_that_are_kept_twice_before_a_step_are_chosen_among_those_kept_first():
    model = build().eval()
    memory, source_mask = model.encode(SOURCE_IDS), model.source_mask(SOURCE_IDS)
    cache = new_cache()
    model.decode(TARGET_IDS[:, :4], memory, source_mask=source_mask, cache=cache)
    cache.keep(torch.tensor([2, 0, 1]))
    cache.keep(torch.tensor([0, 2, 0]))
    rows = torch.tensor([2, 1, 2])
    decoded = model.decode(
        TARGET_IDS[rows, 4:], memory[rows], source_mask=source_mask[rows], cache=cache
    )
    expected = model(SOURCE_IDS[rows], TARGET_IDS[rows])[:, 4:]
    torch.testing.assert_close(model.project(decoded), expected)


@torch.no_grad()
def test_beams_of_one_source_change_places_and_the_source_is_not_copied():
    model = build().eval()
    source_ids = SOURCE_IDS[[1, 1, 1]]
    memory, source_mask = model.encode(source_ids), model.source_mask(source_ids)
    cache = new_cache()
    model.decode(TARGET_IDS[:, :3], memory, source_mask=source_mask, cache=cache)
    across = [layer.cross_attention.keys.data_ptr() for layer in cache.layers]
    rows = torch.tensor([1, 1, 0])
    cache.keep(rows, same_sources=True)
    assert [layer.cross_attention.keys.data_ptr() for layer in cache.layers] == across
    targets = torch.cat([TARGET_IDS[rows, :3], TARGET_IDS[:, 3:]], dim=1)
    decoded = model.decode(TARGET_IDS[:, 3:], memory, source_mask=source_mask, cache=cache)
    torch.testing.assert_close(model.project(decoded), model(source_ids, targets)[:, 3:])


@torch.no_grad()
def test_the_source_is_projected_once_and_each_target_token_once():
    model = build().eval()
    seen = {"cross": [], "self": []}
    for layer in model.decoder.layers:
        for kind, lengths in seen.items():
            attention = getattr(layer, f"{kind}_attention")
            attention.key_projection.register_forward_hook(
                lambda _, given, __, lengths=lengths: lengths.append(given[0].size(1))
            )
    step_by_step(model, SOURCE_IDS, TARGET_IDS, [1, 2, 3, 4, 5])
    projected = {kind: [length for length in lengths if length] for kind, lengths in seen.items()}
    assert projected == {"cross": [5] * LAYERS, "self": [1] * TARGET * LAYERS}


@torch.no_grad()
def test_work_per_step_grows_by_two_products_for_each_position_before_it():
    model = build().eval()
    memory, source_mask = model.encode(SOURCE_IDS), model.source_mask(SOURCE_IDS)
    cache, with_cache, without = new_cache(), [], []
    for length in range(1, TARGET + 1):
        newest, whole = TARGET_IDS[:, length - 1 : length], TARGET_IDS[:, :length]
        for ids, given, found in ((newest, {"cache": cache}, with_cache), (whole, {}, without)):
            # The written-out kernel: operations inside the fused one are not counted.
            with FlopCounterMode(display=False) as counted, sdpa_kernel(SDPBackend.MATH):
                model.decode(ids, memory, source_mask=source_mask, **given)
            found.append(counted.get_total_flops())
    # A product of width d_model costs 2 d_model: one for the score, one for the value.
    row = LAYERS * 2 * 2 * model.config.d_model
    # The first step also reads the source.
    grows = [later - earlier for earlier, later in itertools.pairwise(with_cache[1:])]
    assert grows == [row * len(SOURCE_IDS)] * (TARGET - 2)
    assert without[-1] > 5 * with_cache[-1]


def test_gradients_flow_through_a_cache():
    model = build()
    memory = model.encode(SOURCE_IDS)
    cache = new_cache()
    first = model.decode(TARGET_IDS[:, :1], memory, source_mask=None, cache=cache)
    assert first.requires_grad
    first.sum().backward()
    assert model.decoder.layers[0].self_attention.value_projection.weight.grad.isfinite().all()


def test_gradients_through_several_steps_are_those_of_the_whole():
    model = build(torch.float64).eval()
    rows, cache = torch.tensor([2, 0, 0]), new_cache()
    memory, target_ids = model.encode(SOURCE_IDS), TARGET_IDS[rows]
    model.decode(TARGET_IDS[:, :1], memory, source_mask=None, cache=cache)
    cache.keep(rows)
    decoded = [
        model.decode(piece, memory[rows], source_mask=None, cache=cache)
        for piece in target_ids[:, 1:].split(1, dim=1)
    ]
    whole = model.decode(target_ids, memory[rows], source_mask=None)[:, 1:]
    weight = model.decoder.layers[0].self_attention.value_projection.weight
    found, expected = (
        torch.autograd.grad(out.square().sum(), weight, retain_graph=True)[0]
        for out in (torch.cat(decoded, dim=1), whole)
    )
    torch.testing.assert_close(found, expected)


@torch.no_grad()
def test_a_call_that_was_interrupted_can_be_repeated():
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    # Nothing is padded, so that no mask can give away that a layer has kept a token too many.
    source_ids, target_ids = SOURCE_IDS[:1].repeat(2, 1), TARGET_IDS[[0, 0], :4]
    model, cache = build().eval(), new_cache()
    memory = model.encode(source_ids)
    model.decode(target_ids[:, :2], memory, source_mask=None, cache=cache)
    hook = model.decoder.layers[1].register_forward_pre_hook(interrupt)
    with hook, pytest.raises(KeyboardInterrupt):
        model.decode(target_ids[:, 2:3], memory, source_mask=None, cache=cache)
    rest = model.decode(target_ids[:, 2:], memory, source_mask=None, cache=cache)
    torch.testing.assert_close(rest, model.decode(target_ids, memory, source_mask=None)[:, 2:])


@torch.no_grad()
def test_a_first_call_that_was_interrupted_leaves_nothing_of_its_source():
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    model, cache = build().eval(), new_cache()
    memory, target_ids = model.encode(SOURCE_IDS[:1]), TARGET_IDS[:1, :2]
    hook = model.decoder.layers[1].register_forward_pre_hook(interrupt)
    with hook, pytest.raises(KeyboardInterrupt):
        model.decode(target_ids, -memory, source_mask=None, cache=cache)
    found = model.decode(target_ids, memory, source_mask=None, cache=cache)
    torch.testing.assert_close(found, model.decode(target_ids, memory, source_mask=None))


def test_an_attention_with_a_cache_attends_to_what_earlier_calls_brought():
    torch.manual_seed(0)
    attention = MultiHeadAttention(d_model=12, num_heads=3)
    x = torch.randn(2, 5, 12)
    cache = KeyValueCache()
    attention(x[:, :3], x[:, :3], x[:, :3], cache=cache)
    found = attention(x[:, 3:], x[:, 3:], x[:, 3:], cache=cache)
    torch.testing.assert_close(found, attention(x[:, 3:], x, x))


def test_a_call_that_is_refused_leaves_the_cache_as_it_was():
    model = build().eval()
    memory, source_mask = model.encode(SOURCE_IDS), model.source_mask(SOURCE_IDS)
    cache = new_cache()
    model.decode(TARGET_IDS[:, :2], memory, source_mask=source_mask, cache=cache)
    lengths = [attention.length for layer in cache.layers for attention in layer]
    too_long = TARGET_IDS[:, [2] * 8]  # with the two before them, more than max_length
    for wrong in (TARGET_IDS[:, 2:3] + 100, TARGET_IDS[:2, 2:3], too_long):
        with pytest.raises(ValueError, match="target_ids .*must"):
            model.decode(wrong, memory, source_mask=source_mask, cache=cache)
    with pytest.raises(ValueError, match="source_mask must broadcast"):
        model.decode(TARGET_IDS[:, 2:3], memory, source_mask=source_mask[..., 1:], cache=cache)
    assert [attention.length for layer in cache.layers for attention in layer] == lengths
    rest = model.decode(TARGET_IDS[:, 2:], memory, source_mask=source_mask, cache=cache)
    whole = model.decode(TARGET_IDS, memory, source_mask=source_mask)
    torch.testing.assert_close(rest, whole[:, 2:])


@torch.no_grad()
@pytest.mark.parametrize(
    ("name", "mask", "error", "sentence"),
    [
        ("source_mask", torch.ones(3, 1, 1, 9), TypeError, "got torch.float32"),
        ("source_mask", [[True]], TypeError, "got list"),
        ("target_mask", torch.ones(TARGET, TARGET), TypeError, "got torch.float32"),
        (
            "source_mask",
            torch.ones(3, 1, 1, 9, dtype=torch.bool),
            ValueError,
            r"broadcast to \(3, 3, 6, 5\), got \(3, 1, 1, 9\)",
        ),
        (
            "target_mask",
            torch.ones(3, 1, 7, 6, dtype=torch.bool),
            ValueError,
            r"broadcast to \(3, 3, 6, 6\), got \(3, 1, 7, 6\)",
        ),
    ],
    ids=["numbers", "list", "target numbers", "source shape", "target shape"],
)
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "not cached"])
def test_a_mask_that_does_not_fit_is_refused_also_where_it_hides_nothing(
    cached, name, mask, error, sentence
):
    model = build().eval()
    given = {"source_mask": None, name: mask}
    cache = new_cache() if cached else None
    with pytest.raises(error, match=f"{name} must .*{sentence}"):
        model.decode(TARGET_IDS, model.encode(SOURCE_IDS), cache=cache, **given)


def filled(model: Transformer) -> DecoderCache:
    """A cache that holds two target positions of the model."""
    cache = new_cache()
    memory = model.encode(SOURCE_IDS)
    model.decode(TARGET_IDS[:, :2], memory, source_mask=None, cache=cache)
    return cache


def go_on(target_ids=TARGET_IDS[:, 2:3], source_ids=SOURCE_IDS, cache=None, **changes):
    """Decode from a cache that another call has filled, with one thing changed."""
    cache = filled(build()) if cache is None else cache
    other = Transformer(dataclasses.replace(build().config, **changes))
    return other.decode(target_ids, other.encode(source_ids), source_mask=None, cache=cache)


SIZES = "target_ids and memory must have the cache's batch, heads, source length and d_head"
MISUSES = [
    (
        lambda: go_on(TARGET_IDS[:2, 2:3], SOURCE_IDS[:2]),
        f"{SIZES} (3, 3, 5, 4), got (2, 3, 5, 4)",
    ),
    (lambda: go_on(source_ids=SOURCE_IDS[:, :4]), f"{SIZES} (3, 3, 5, 4), got (3, 3, 4, 4)"),
    (lambda: go_on(num_heads=1), f"{SIZES} (3, 3, 5, 4), got (3, 1, 5, 12)"),
    (lambda: go_on(d_model=24), f"{SIZES} (3, 3, 5, 4), got (3, 3, 5, 8)"),
]


@torch.no_grad()
@pytest.mark.parametrize(
    ("mistake", "sentence"), MISUSES, ids=[sentence for _, sentence in MISUSES]
)
def test_a_mistake_is_refused_in_one_sentence(mistake, sentence):
    with pytest.raises(ValueError) as caught:
        mistake()
    assert str(caught.value) == sentence


@torch.no_grad()
@pytest.mark.parametrize("rows", [[0, 3], [-1]])
def test_rows_outside_of_the_batch_are_refused(rows):
    with pytest.raises(IndexError):
        filled(build()).keep(torch.tensor(rows))


@torch.no_grad()
def test_a_cache_with_a_different_number_of_layers_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        go_on(num_layers=3)


@torch.no_grad()
def test_the_cache_of_a_model_of_another_type_is_refused():
    other = build(torch.float64)
    memory = other.encode(SOURCE_IDS)
    with pytest.raises(RuntimeError, match="same dtype"):
        other.decode(TARGET_IDS[:, 2:], memory, source_mask=None, cache=filled(build()))


def test_nothing_written_yet_can_be_kept():
    cache = new_cache()
    cache.keep(torch.tensor([0]))
    assert cache.length == 0
