"""Lesson 00: right answers of many kinds are accepted, and each mistake is named."""

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.start_here import checks

NEXT_ID = """
def next_id(logits):
    return int(logits[0, -1].argmax())
"""
LARGEST = "int(logits[0, -1].argmax())"
IN_A_LOOP = """
def next_id(logits):
    best, row = 0, logits[0, logits.size(1) - 1].tolist()
    for token_id, logit in enumerate(row):
        if logit > row[best]:
            best = token_id
    return best
"""

ANSWERS = {
    "0.1": Answers(
        NEXT_ID,
        right=[
            IN_A_LOOP,
            f"{LARGEST} → logits[:, -1].softmax(-1).argmax(-1)",
            f"{LARGEST} → torch.argmax(logits[0][-1])",
            f"{LARGEST} → logits.argmax(dim=-1)[0, -1].item()",
            f"{LARGEST} → logits[0, -1].max(dim=-1).indices",
            f"{LARGEST} → logits.squeeze(0)[-1].topk(1).indices",
            f"{LARGEST} → logits[0, -1].numpy().argmax()",
            f"{LARGEST} → max(range(logits.size(-1)), key=lambda token: logits[0, -1, token])",
        ],
        wrong={
            f"{LARGEST} → int(logits[0, 0].argmax())": "after the first position",
            f"{LARGEST} → logits.argmax()": "all positions",
            f"{LARGEST} → logits[-1].argmax()": "all positions",
            f"{LARGEST} → logits[-1].argmax(-1)": "One id is wanted, you gave 3",
            f"{LARGEST} → logits[0, -1]": "One id is wanted, you gave 4",
            f"{LARGEST} → float(logits[0, -1].max())": "a logit, not an id",
            f"{LARGEST} → float(logits[0, -1].argmax())": "a whole number; yours is 1.0",
            f"{LARGEST} → True": "a whole number; yours is True",
            f"{LARGEST} → logits[0, -1].softmax(-1).multinomial(1)": "position",
            f"{LARGEST} → int(logits[0, -1].argmin())": "another one is larger",
            f"{LARGEST} → int(logits[0, 2].argmax())": "IndexError",
            f"{LARGEST} → int(logits[0, -2].argmax())": "another one is larger",
            f"{LARGEST} → logits[0, -1].argmax().tolist(), 0": "one id, a whole number",
            f"{LARGEST} → 1": "another one is larger",
        },
    ),
    "0.2": Answers(
        '"sieben und siebzig"',
        right=[
            '"Sieben  und siebzig "',
            '"<s> sieben und siebzig </s>"',
            '"SIEBEN UND SIEBZIG"',
            '" ".join(["sieben", "und", "siebzig"])',
            '"sieben und siebzig</s>"',
            '"Sieben und siebzig."',
        ],
        wrong={
            '"drei hundert zwei und vierzig"': "never sees the English words",
            '"siebzig sieben"': "German says the units first",
            '"siebzig und sieben"': "German says the units first",
            '"siebenundsiebzig"': "Separate the words",
            '"sieben siebzig"': "a word is missing",
            '"zwei und vierzig"': "Which sentence does the memory come from",
            '"seventy seven"': "Which sentence does the memory come from",
            '["sieben", "und", "siebzig"]': "as one text",
            "77": "as one text",
        },
    ),
    "0.3": Answers(
        '"two hundred forty three"',
        right=[
            '"Two hundred forty-three"',
            '"two  hundred\\nforty three"',
            '"TWO HUNDRED FORTY THREE"',
            '" ".join(["two", "hundred", "forty", "three"])',
            '"two-hundred-forty-three"',
            '"Two hundred forty-three."',
        ],
        wrong={
            '"three hundred forty two"': "the number must change",
            '"two hundred forty"': "Use each of these words once",
            '"two hundred and forty three"': "Use each of these words once",
            '"forty two three hundred"': "a digit before hundred",
            '"forty hundred two three"': "not how English writes",
            '"two hundred three forty"': "not how English writes",
            '["two", "hundred", "forty", "three"]': "as one text",
            "243": "as one text",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS
)
