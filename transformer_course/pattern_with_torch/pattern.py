"""The binary pattern: zeros, ones or both in turns, to be continued (system S2 of the tests).

A source is a prompt and a count, ``1 0 1 0 +3``, and the target is its continuation, ``1 0 1``.
A prompt may begin with noise, ``1 1 0 0 1 0 +3``: what counts is the pattern at its end. Every
symbol of the continuation equals the one two places before it, which holds for all patterns.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice, product

import torch
from torch import nn

from transformer_edu.data.batches import pad
from transformer_edu.data.toy_tasks import Pair, Task
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.refusals import require_whole

PATTERNS = {  # what is repeated for ever
    "all zeros": "0",
    "all ones": "1",
    "alternating from 0": "01",
    "alternating from 1": "10",
}
SHORTEST, LONGEST = 2, 12  # one symbol would not tell 1 1 1 from 1 0 1
LENGTHS = range(SHORTEST, LONGEST + 1)  # of prompts, and of continuations
UNSEEN_LENGTHS = (2, 11)
# The prompts of S2, two of them of an unseen length.
PROMPTS = ("00000000", "11111111", "10101010", "01010101", "01010101010", "01")
TRAIN_SHARE, VALIDATION_SHARE = 0.6, 0.2  # of the different pairs; the rest is for the test


@dataclass(frozen=True, kw_only=True)
class PatternTask(Task):
    """A task that also keeps whole lengths of prompts away from training.

    In train and validation a pair may come again; in test and unseen each comes once.

    Args:
        unseen: For each length of prompt that no other part has, pairs to be judged by.
    """

    unseen: dict[int, list[Pair]]


def pattern_task(
    *,
    train_size: int = 9000,
    validation_size: int = 3000,
    test_size: int = 1000,
    unseen_lengths: Sequence[int] = UNSEEN_LENGTHS,
    seed: int = 0,
) -> PatternTask:
    """Continue the pattern at a prompt's end by as many symbols as the count says.

    The different pairs are cut into three parts before anything is drawn, so that no pair is in
    two of them. Any length and any amount of noise is as likely as another: prompts without
    noise are few, and come again and again. Pairs whose continuation equals their prompt are
    left out: who copies must not look right.

    Args:
        train_size, validation_size: Number of samples to learn from and to watch by.
        test_size: Number of different pairs to be judged by; also the most of an unseen length.
        unseen_lengths: Lengths of prompts that are kept for ``unseen``.
        seed: Decides which pairs are in which part, and which are drawn.

    Raises:
        TypeError, ValueError: If a size is not a whole number of at least 1, an unseen length
            lies outside 2 to 12, or there are not as many lengths or pairs as asked for.
    """
    sizes = {"train_size": train_size, "validation_size": validation_size, "test_size": test_size}
    for name, size in sizes.items():
        require_whole(name, size)
    require_whole("seed", seed, minimum=0)
    _require_lengths(unseen_lengths)
    unseen = {length: _pairs_of(length) for length in sorted(set(unseen_lengths))}
    seen = [pair for n in LENGTHS if n not in unseen for pair in _pairs_of(n)]
    random.Random(seed).shuffle(seen)
    cuts = [round(share * len(seen)) for share in (TRAIN_SHARE, TRAIN_SHARE + VALIDATION_SHARE)]
    kept = len(seen) - cuts[1]
    if test_size > kept:
        raise ValueError(f"test_size must be at most {kept:,}, the pairs kept, got {test_size:,}")
    draw = partial(_draw, generator=torch.Generator().manual_seed(seed))
    encode = partial(encode_pairs, vocabulary := pattern_vocabulary())
    return PatternTask(
        name="binary pattern",
        vocabulary=vocabulary,
        train=encode(draw(seen[: cuts[0]], train_size, again=True)),
        validation=encode(draw(seen[cuts[0] : cuts[1]], validation_size, again=True)),
        test=encode(draw(seen[cuts[1] :], test_size)),
        unseen={length: encode(draw(pairs, test_size)) for length, pairs in unseen.items()},
    )


def pattern_vocabulary() -> Vocabulary:
    """The symbols 0 and 1 and the counts +2 to +12, after the four special tokens."""
    return Vocabulary(["0", "1", *(f"+{count}" for count in LENGTHS)])


def continue_pattern(prompt: str, count: int) -> str:
    """The right answer: every symbol equals the one two places before it.

    Args:
        prompt: Symbols 0 and 1, such as "1010"; two or more.
        count: How many symbols to write.

    Raises:
        TypeError: If prompt is not a text, or count not a whole number.
        ValueError: If prompt is too short or holds other symbols, or count is below 1.
    """
    require_whole("count", count)
    if not isinstance(prompt, str):
        raise TypeError(f"prompt must be a text of 0 and 1, got {prompt!r}")
    if len(prompt) < SHORTEST or not set(prompt) <= {"0", "1"}:
        raise ValueError(f"prompt must be {SHORTEST} or more symbols 0 and 1, got {prompt!r}")
    return _repeat(prompt[-2:], count)


def encode_pairs(vocabulary: Vocabulary, pairs: Iterable[tuple[str, int]]) -> list[Pair]:
    """Prompts with their counts, and continuations, in token ids.

    Args:
        vocabulary: What pattern_vocabulary returned.
        pairs: A prompt and how many symbols shall follow, such as ("1010", 3).
    """
    return [
        (
            vocabulary.encode([*prompt, f"+{count}"]),
            vocabulary.encode([*continue_pattern(prompt, count)]),
        )
        for prompt, count in pairs
    ]


def write_continuations(
    model: nn.Module, vocabulary: Vocabulary, prompts: Sequence[str], *, count: int = 5
) -> list[str]:
    """What a model writes after each prompt until it says that it is done, or gives up.

    Args:
        model: What greedy_search takes.
        vocabulary: What pattern_vocabulary returned.
        prompts: Texts of 0 and 1, of any lengths.
        count: How many symbols to ask for, from 2 to 12.

    Returns:
        The symbols; a count or special token among them is written as it is called.

    Raises:
        TypeError, ValueError: If there are no prompts, or the model cannot write.
    """
    source_ids = pad([vocabulary.encode([*prompt, f"+{count}"]) for prompt in prompts])
    device = next(model.parameters()).device
    written = greedy_search(model, source_ids.to(device), max_length=LONGEST + 3)
    return ["".join(vocabulary.decode(ids)) for ids in written]


def clean_pairs(vocabulary: Vocabulary, prompt_length: int) -> list[Pair]:
    """The four patterns without noise, with every count; also longer than in the task.

    Args:
        vocabulary: What pattern_vocabulary returned.
        prompt_length: Symbols in the prompt, at least 2.

    Raises:
        TypeError, ValueError: If prompt_length is not a whole number of at least 2.
    """
    require_whole("prompt_length", prompt_length, minimum=SHORTEST)
    prompts = (_repeat(unit, prompt_length) for unit in PATTERNS.values())
    return encode_pairs(vocabulary, _with_counts(prompts))


def _repeat(unit: str, length: int) -> str:
    """A few symbols again and again, up to a length."""
    return "".join(islice(cycle(unit), length))


def _pairs_of(prompt_length: int) -> list[tuple[str, int]]:
    """Every prompt of a length with every count."""
    return _with_counts(map("".join, product("01", repeat=prompt_length)))


def _with_counts(prompts: Iterable[str]) -> list[tuple[str, int]]:
    """Every prompt with every count, except where a copy would be right."""
    return [
        (prompt, count)
        for prompt in prompts
        for count in LENGTHS
        if count != len(prompt) or continue_pattern(prompt, count) != prompt
    ]


def _draw(
    pairs: Sequence[tuple[str, int]],
    size: int,
    *,
    generator: torch.Generator,
    again: bool = False,
) -> list[tuple[str, int]]:
    """Draw pairs by their chance: the same one again, or as many different ones as there are."""
    chances = [_chance(prompt) for prompt, _ in pairs]
    chance = torch.tensor(chances, dtype=torch.float64, device="cpu")
    size = size if again else min(size, len(pairs))
    drawn = chance.multinomial(size, replacement=again, generator=generator)
    return [pairs[i] for i in drawn.tolist()]


def _chance(prompt: str) -> float:
    """How likely a prompt is, if 0 to all but two of its symbols are noise, with equal chance."""
    shortest_noise = len(prompt) - 2
    while shortest_noise > 0 and prompt[shortest_noise - 1] == prompt[shortest_noise + 1]:
        shortest_noise -= 1
    lengths_of_noise = range(shortest_noise, len(prompt) - 1)
    return sum(0.5**noise for noise in lengths_of_noise) / (len(prompt) - 1)


def _require_lengths(unseen_lengths: Sequence[int]) -> None:
    """Refuse lengths that the task does not have, and all of them."""
    for length in unseen_lengths:
        require_whole("unseen_lengths", length)
        if length not in LENGTHS:
            raise ValueError(f"unseen_lengths must be from {SHORTEST} to {LONGEST}, got {length}")
    if set(unseen_lengths) == set(LENGTHS):
        raise ValueError(
            f"unseen_lengths must leave a length to learn from, got {SHORTEST} to {LONGEST}"
        )
