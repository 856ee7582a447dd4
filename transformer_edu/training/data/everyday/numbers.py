"""Numbers, clock times and dates in words of both languages."""

ENGLISH_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
ENGLISH_TENS = [
    "x",
    "x",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
]
GERMAN_ONES = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
]
GERMAN_TENS = [
    "x",
    "x",
    "zwanzig",
    "dreißig",
    "vierzig",
    "fünfzig",
    "sechzig",
    "siebzig",
    "achtzig",
    "neunzig",
]
MONTHS = [
    "January",
    "Januar",
    "February",
    "Februar",
    "March",
    "März",
    "April",
    "April",
    "May",
    "Mai",
    "June",
    "Juni",
    "July",
    "Juli",
    "August",
    "August",
    "September",
    "September",
    "October",
    "Oktober",
    "November",
    "November",
    "December",
    "Dezember",
]
ENGLISH_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
GERMAN_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
DAYPARTS = ((5, 11, "in the morning", "morgens"), (1, 5, "in the afternoon", "nachmittags"),
            (6, 10, "in the evening", "abends"))  # fmt: skip


def english_number(number: int) -> str:
    """A number below a thousand in English words."""
    if number >= 100:
        rest = f" {english_number(number % 100)}" if number % 100 else ""
        return f"{ENGLISH_ONES[number // 100]} hundred{rest}"
    if number < 20:
        return ENGLISH_ONES[number]
    ones = f"-{ENGLISH_ONES[number % 10]}" if number % 10 else ""
    return ENGLISH_TENS[number // 10] + ones


def german_number(number: int) -> str:
    """A number below a thousand in German words."""
    if number >= 100:
        hundred = "hundert" if number < 200 else f"{GERMAN_ONES[number // 100]}hundert"
        return hundred + (german_number(number % 100) if number % 100 else "")
    if number < 20:
        return GERMAN_ONES[number]
    ones = GERMAN_ONES[number % 10].replace("eins", "ein")
    return (f"{ones}und" if number % 10 else "") + GERMAN_TENS[number // 10]


def english_ordinal(number: int) -> str:
    """first, second, ..., thirty-first."""
    start, dash, last = english_number(number).rpartition("-")
    if last in ENGLISH_ORDINALS:
        last = ENGLISH_ORDINALS[last]
    else:
        last = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return start + dash + last


def german_ordinal(number: int) -> str:
    """The stem: erst, zweit, ..., einunddreißigst."""
    if number in GERMAN_ORDINALS:
        return GERMAN_ORDINALS[number]
    return german_number(number) + ("t" if number < 20 else "st")


def month(number: int) -> tuple[str, str]:
    """The name of a month, 1 to 12, in both languages."""
    return MONTHS[2 * number - 2], MONTHS[2 * number - 1]


def clock(hour: int, minute: int) -> tuple[str, str]:
    """A time of the clock as it is spoken: half past three is halb vier.

    Args:
        hour: 1 to 12.
        minute: 0, 5, 10, 15, 20, 30, 40, 45, 50 or 55.
    """
    following = hour % 12 + 1
    if minute == 0:
        german = "ein" if hour == 1 else german_number(hour)
        return f"{english_number(hour)} o'clock", f"{german} Uhr"
    if minute == 30:
        return f"half past {english_number(hour)}", f"halb {german_number(following)}"
    parts = {15: ("a quarter", "Viertel"), 5: ("five", "fünf"), 10: ("ten", "zehn"),
             20: ("twenty", "zwanzig")}  # fmt: skip
    if minute < 30:
        english, german = parts[minute]
        return f"{english} past {english_number(hour)}", f"{german} nach {german_number(hour)}"
    english, german = parts[60 - minute]
    return f"{english} to {english_number(following)}", f"{german} vor {german_number(following)}"
