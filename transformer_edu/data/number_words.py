"""Numbers from 1 to 999,999 as English and as German words.

German says units before tens (342 is *drei hundert zwei und vierzig*), so a translator must change
the order. Both languages are written as separate words here: *forty two* for forty-two, *zwei und
vierzig* for zweiundvierzig.
"""

from transformer_edu.model.refusals import require_whole

LARGEST_NUMBER = 999_999

# From one to nineteen, then the tens from twenty on.
ENGLISH_SMALL = str.split(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
ENGLISH_TENS = str.split("twenty thirty forty fifty sixty seventy eighty ninety")
GERMAN_SMALL = str.split(
    "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
)
GERMAN_TENS = str.split("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
ENGLISH_WORDS = (*ENGLISH_SMALL, *ENGLISH_TENS, "hundred", "thousand")
GERMAN_WORDS = (*GERMAN_SMALL, "eins", *GERMAN_TENS, "und", "hundert", "tausend")


def english_words(number: int) -> list[str]:
    """The words of a number in English: 342 is three hundred forty two.

    Raises:
        TypeError, ValueError: If number is not a whole number from 1 to 999,999.
    """
    require_whole("number", number, maximum=LARGEST_NUMBER)
    thousands, rest = divmod(number, 1000)
    words = [*_english_below_thousand(thousands), "thousand"] if thousands else []
    return words + _english_below_thousand(rest)


def german_words(number: int) -> list[str]:
    """The words of a number in German: 342 is drei hundert zwei und vierzig.

    One is *eins* at the end (101: ein hundert eins) and *ein* before another word (1000: ein
    tausend; 21: ein und zwanzig).

    Raises:
        TypeError, ValueError: As for english_words.
    """
    require_whole("number", number, maximum=LARGEST_NUMBER)
    thousands, rest = divmod(number, 1000)
    words = [*_german_below_thousand(thousands), "tausend"] if thousands else []
    words += _german_below_thousand(rest)
    return [*words[:-1], "eins"] if words[-1] == "ein" else words


def _english_below_thousand(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    words = [ENGLISH_SMALL[hundreds - 1], "hundred"] if hundreds else []
    if rest >= 20:
        words.append(ENGLISH_TENS[rest // 10 - 2])
        rest %= 10
    return [*words, ENGLISH_SMALL[rest - 1]] if rest else words


def _german_below_thousand(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    words = [GERMAN_SMALL[hundreds - 1], "hundert"] if hundreds else []
    if rest < 20:
        return [*words, GERMAN_SMALL[rest - 1]] if rest else words
    tens, units = divmod(rest, 10)
    if units:
        words += [GERMAN_SMALL[units - 1], "und"]
    return [*words, GERMAN_TENS[tens - 2]]
