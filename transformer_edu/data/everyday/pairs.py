"""Everyday English and German by seed: phrases and generated sentences in three parts."""

from functools import cache
from random import Random

from transformer_edu.data.everyday import (
    sentences_actions,
    sentences_being,
    sentences_dealing,
    sentences_joined,
    sentences_places,
    sentences_times,
)
from transformer_edu.data.everyday.german_forms import nouns
from transformer_edu.data.everyday.noun_phrases import adjectives, phrase
from transformer_edu.data.everyday.tables import read_table
from transformer_edu.data.parallel_text import ParallelText, TextPair
from transformer_edu.model.refusals import require_whole

GROUPS = (
    *sentences_actions.TEMPLATES,
    *sentences_being.TEMPLATES,
    *sentences_dealing.TEMPLATES,
    *sentences_places.TEMPLATES,
    *sentences_times.TEMPLATES,
    *sentences_joined.TEMPLATES,
)
FRUITLESS = 2_000  # this many tries in a row without a new sentence mean that there are no more


@cache
def everyday_pairs(
    seed: int = 0,
    count: int = 150_000,
    *,
    validation_size: int = 1000,
    test_size: int = 1000,
) -> ParallelText:
    """Different everyday sentences in English with their German translations.

    Single words and fixed phrases come first and are all in the training part. An English sentence
    has one translation; English sentences of the same German sentence are in the same part, so that
    no sentence of either language is in two parts. No held-out sentence is among them. You is
    translated as du, unless somebody is addressed who is not (Mr. Weber; Excuse me), or several
    people are.

    Args:
        seed: Decides the sentences and their parts.
        count: How many pairs in all.
        validation_size: About how many of them to choose by.
        test_size: About how many of them to be judged by.

    Raises:
        TypeError, ValueError: If seed is not a whole number of at least 0, a size is not one of
            at least 1, or count is too small for the sizes or larger than what can be generated.
    """
    require_whole("seed", seed, minimum=0)
    for name, size in (("validation_size", validation_size), ("test_size", test_size)):
        require_whole(name, size)
    require_whole("count", count)
    pairs = words() | phrases()
    if count < len(pairs) + validation_size + test_size:
        raise ValueError(
            f"count must be at least {len(pairs) + validation_size + test_size:,}, for words, "
            f"phrases, validation and test, got {count:,}"
        )
    generate(Random(seed), pairs, count)
    return in_parts(pairs, validation_size, test_size, Random(seed))


def phrases() -> dict[str, str]:
    """The fixed phrases, German by English."""
    return {row["english"]: row["german"] for row in read_table("phrases")}


@cache
def held_out() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The hand-written sentences that are never generated, with their accepted translations."""
    rows = read_table("held_out")
    return tuple((row["english"], tuple(row["german"].split(" | "))) for row in rows)


@cache
def words() -> dict[str, str]:
    """Words and short expressions alone, German by English: what is typed first.

    Those of their own table, then adjectives, then nouns alone and with an article.
    """
    found = {row["english"]: row["german"] for row in read_table("words")}
    found |= {adjective.english: adjective.german for adjective in adjectives()}
    for noun in nouns():
        forms = [phrase(noun, determiner) for determiner in ("", "the", "a")]
        if noun.german_plural and noun.english_plural:
            forms += [phrase(noun, determiner, plural=True) for determiner in ("", "the")]
        for form in forms:
            found.setdefault(form.english, form.nom)
    return found


def given_names() -> frozenset[str]:
    """The names of the people in the sentences."""
    return frozenset(row["name"] for row in read_table("people"))


def normal(text: str) -> str:
    """A sentence without case and final mark, as held-out sentences are compared."""
    return text.lower().rstrip(".!?")


def generate(rng: Random, pairs: dict[str, str], count: int) -> None:
    """Add new sentences to pairs until there are count of them."""
    kept_out = {normal(english) for english, _ in held_out()}
    kept_out |= {normal(text) for _, accepted in held_out() for text in accepted}
    shares, groups = zip(*GROUPS, strict=True)
    choices = [(list(group), list(group.values())) for group in groups]
    fruitless = 0
    while len(pairs) < count:
        templates, weights = rng.choices(choices, shares)[0]
        english, german = rng.choices(templates, weights)[0](rng)
        if english in pairs or normal(english) in kept_out or normal(german) in kept_out:
            fruitless += 1
            if fruitless == FRUITLESS:
                raise ValueError(
                    f"count must be at most about {len(pairs):,}, what the templates can "
                    f"generate, got {count:,}"
                )
            continue
        pairs[english] = german
        fruitless = 0


def in_parts(
    pairs: dict[str, str], validation_size: int, test_size: int, rng: Random
) -> ParallelText:
    """The pairs in three parts; those of one German sentence stay together."""
    together: dict[str, list[TextPair]] = {}
    for english, german in pairs.items():
        together.setdefault(normal(german), []).append((english, german))
    fixed = {normal(text) for pair in (words() | phrases()).items() for text in pair}
    free = [
        german
        for german, group in together.items()
        if not fixed & {german, *(normal(english) for english, _ in group)}
    ]
    rng.shuffle(free)
    validation: list[TextPair] = []
    test: list[TextPair] = []
    taken = set()
    for german in free:
        part = validation if len(validation) < validation_size else test
        if len(part) >= test_size and part is test:
            break
        part += together[german]
        taken.add(german)
    train = [pair for german in together if german not in taken for pair in together[german]]
    return ParallelText(train, validation, test)
