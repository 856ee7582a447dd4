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


def new_cache(max_length: int = TARGET) -> DecoderCache:
    return DecoderCache(num_layers=LAYERS, max_length=max_length)


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
    assert seen == {"cross": [5] * LAYERS, "self": [1] * TARGET * LAYERS}


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


def test_an_attention_with_a_cache_attends_to_what_earlier_calls_brought():
    torch.manual_seed(0)
    attention = MultiHeadAttention(d_model=12, num_heads=3)
    x = torch.randn(2, 5, 12)
    cache = KeyValueCache(5)
    attention(x[:, :3], x[:, :3], x[:, :3], cache=cache)
    found = attention(x[:, 3:], x[:, 3:], x[:, 3:], cache=cache)
    torch.testing.assert_close(found, attention(x[:, 3:], x, x))


def test_a_call_that_is_refused_leaves_the_cache_as_it_was():
    model = build().eval()
    memory, source_mask = model.encode(SOURCE_IDS), model.source_mask(SOURCE_IDS)
    cache = new_cache()
    model.decode(TARGET_IDS[:, :2], memory, source_mask=source_mask, cache=cache)
    lengths = [attention.length for layer in cache.layers for attention in layer]
    for wrong in (TARGET_IDS[:, 2:3] + 100, TARGET_IDS[:2, 2:3], TARGET_IDS[:, 1:]):
        with pytest.raises(ValueError, match="target_ids must"):
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


@torch.no_grad()
@pytest.mark.parametrize(
    ("heads", "dtype", "got"),
    [
        (1, torch.float32, r"\(3, 1, 12, 'torch.float32'\)"),
        (4, torch.float32, r"\(3, 4, 3, 'torch.float32'\)"),
        (3, torch.float64, r"\(3, 3, 4, 'torch.float64'\)"),
    ],
    ids=["one head", "other heads", "other type"],
)
def test_the_cache_of_another_model_is_refused_where_it_shows(heads, dtype, got):
    model, cache = build().eval(), new_cache()
    model.decode(TARGET_IDS[:, :2], model.encode(SOURCE_IDS), source_mask=None, cache=cache)
    config = dataclasses.replace(model.config, num_heads=heads)
    other = Transformer(config).to(dtype).eval()
    memory = other.encode(SOURCE_IDS)
    wanted = r"\(3, 3, 4, 'torch.float32'\)"
    with pytest.raises(ValueError, match=f"keys must have the cache's .* type {wanted}, got {got}"):
        other.decode(TARGET_IDS[:, 2:], memory, source_mask=None, cache=cache)
    read = cache.layers[0].cross_attention  # to which nothing is added
    attention = other.decoder.layers[0].cross_attention
    with pytest.raises(ValueError, match=f"query must have the cache's .* {wanted}, got {got}"):
        attention(memory, memory, memory, cache=read)


KEPT = torch.zeros(2, 3, 4, 5)


def filled() -> DecoderCache:
    cache = new_cache()
    cache.token_ids = TARGET_IDS[:, :2]
    return cache


def added(keys: Tensor, values: Tensor) -> KeyValueCache:
    cache = KeyValueCache(9)
    cache.add(KEPT, KEPT)
    cache.add(keys, values)
    return cache


X = torch.zeros(1, 2, 12)


@pytest.mark.parametrize(
    ("mistake", "error", "sentence"),
    [
        (lambda: KeyValueCache(0), ValueError, "max_length must be at least 1, got 0"),
        (
            lambda: KeyValueCache(3).add(KEPT, KEPT),
            ValueError,
            "cache must have room for 4 positions, got 3",
        ),
        (
            lambda: KeyValueCache(3).keys,
            ValueError,
            "cache must be filled before it is read, got an empty one",
        ),
        (
            lambda: added(KEPT[:1], KEPT[:1]),
            ValueError,
            "keys must have the cache's batch, heads, d_head and type "
            "(2, 3, 5, 'torch.float32'), got (1, 3, 5, 'torch.float32')",
        ),
        (
            lambda: added(KEPT, KEPT[:, :, 1:]),
            ValueError,
            "keys and values must have the same length, got 4 and 3",
        ),
        (
            lambda: added(KEPT[0], KEPT[0]),
            ValueError,
            "keys must have shape (batch, heads, position, d_head), got (3, 4, 5)",
        ),
        (
            lambda: added([1], [2]),
            TypeError,
            "keys must be a tensor of floating-point numbers, got list",
        ),
        (
            lambda: build().decode(TARGET_IDS, X, source_mask=None, cache=KeyValueCache(9)),
            TypeError,
            "cache must be a DecoderCache or None, got KeyValueCache",
        ),
        (
            lambda: build().decoder(X, X, cache=True),
            TypeError,
            "cache must be a DecoderCache or None, got bool",
        ),
        (
            lambda: MultiHeadAttention(d_model=12, num_heads=3)(X, X, X, cache=new_cache()),
            TypeError,
            "cache must be a KeyValueCache or None, got DecoderCache",
        ),
        (
            lambda: filled().with_new(TARGET_IDS[:, 2:].to("meta")),
            ValueError,
            "target_ids must be on cpu like what it meets, got meta",
        ),
        (
            lambda: filled().keep(torch.tensor([0], device="meta")),
            ValueError,
            "rows must be on cpu like what it meets, got meta",
        ),
        (
            lambda: new_cache(0),
            ValueError,
            "max_length must be at least 1, got 0",
        ),
        (
            lambda: DecoderCache(num_layers=1.5, max_length=2),
            TypeError,
            "num_layers must be a whole number, got 1.5",
        ),
        (
            lambda: filled().with_new(TARGET_IDS[:2]),
            ValueError,
            "target_ids must have 3 rows like the cache, got 2",
        ),
        (
            lambda: filled().with_new(TARGET_IDS[:, 1:]),
            ValueError,
            "target_ids must fit the cache's 6 positions, got 7",
        ),
        (
            lambda: filled().keep([0, 1]),
            TypeError,
            "rows must be a tensor of row numbers, shape (batch,), got [0, 1]",
        ),
        (
            lambda: filled().keep(torch.tensor([0, 3])),
            ValueError,
            "rows must be from 0 to 2, got [0, 3]",
        ),
        (
            lambda: filled().keep(torch.tensor([0]), same_sources=True),
            ValueError,
            "rows must be 3 for the same sources, got 1",
        ),
        (
            lambda: filled().keep(torch.tensor([0]), same_sources=1),
            TypeError,
            "same_sources must be True or False, got 1",
        ),
        (
            lambda: build().decoder(
                torch.zeros(1, 1, 12),
                torch.zeros(1, 2, 12),
                cache=DecoderCache(num_layers=3, max_length=2),
            ),
            ValueError,
            "cache must have 2 layers, got 3",
        ),
        (
            lambda: build().decoder.layers[0](
                torch.zeros(1, 1, 12),
                torch.zeros(1, 2, 12),
                cache=DecoderCache(num_layers=2, max_length=2),
            ),
            TypeError,
            "cache must be a LayerCache or None, got DecoderCache",
        ),
    ],
    ids=[
        "no room",
        "too long",
        "empty",
        "fewer rows",
        "fewer values",
        "no heads",
        "lists",
        "cache of one attention",
        "switch for a cache",
        "cache of a decoder",
        "ids elsewhere",
        "rows elsewhere",
        "no length",
        "layers",
        "rows",
        "room",
        "list",
        "row number",
        "other sources",
        "switch",
        "other decoder",
        "decoder's cache for a layer",
    ],
)
def test_a_mistake_is_refused_in_one_sentence(mistake, error, sentence):
    with pytest.raises(error) as caught:
        mistake()
    assert str(caught.value) == sentence


def test_another_source_than_the_one_kept_is_refused():
    model = build().eval()
    memory, source_mask = model.encode(SOURCE_IDS), model.source_mask(SOURCE_IDS)
    cache = new_cache()
    model.decode(TARGET_IDS[:, :1], memory, source_mask=source_mask, cache=cache)
    with pytest.raises(
        ValueError, match=r"key must have the cache's batch and length \(3, 5\), got \(3, 4\)"
    ):
        model.decode(TARGET_IDS[:, 1:2], memory[:, :4], source_mask=None, cache=cache)


def test_nothing_written_yet_can_be_kept():
    cache = new_cache()
    cache.keep(torch.tensor([0]))
    assert cache.length == 0
