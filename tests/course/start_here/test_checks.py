"""Lesson 00: right answers pass, and each usual wrong answer is named."""

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.start_here import checks as lesson_00

CHECKS = checks_of(lesson_00)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("0.1", lambda logits: int(logits[0, -1].argmax())),
        ("0.1", lambda logits: logits[:, -1].softmax(-1).argmax(-1)),
        ("0.2", "sieben und siebzig"),
        ("0.2", "Sieben  und siebzig "),
        ("0.2", "<s> sieben und siebzig </s>"),
        ("0.3", "two hundred forty three"),
        ("0.3", "Two hundred forty-three"),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("0.1", lambda logits: int(logits[0, 0].argmax()), "after the first position"),
        ("0.1", lambda logits: logits.argmax(), "over all positions at once"),
        ("0.1", lambda logits: logits[-1].argmax(), "take the last position"),
        ("0.1", lambda logits: logits[-1].argmax(-1), "One id is wanted, you gave 3"),
        ("0.1", lambda logits: logits.argmax(-1), "One id is wanted, you gave 3"),
        ("0.1", lambda logits: logits[0, -1], "One id is wanted, you gave 4"),
        ("0.1", lambda logits: float(logits[0, -1].max()), "a logit, not a position"),
        ("0.1", lambda logits: int(logits[0, -1].argmin()), "where is the largest"),
        ("0.1", lambda logits: logits[0, 7], "IndexError"),
        ("0.2", "drei hundert zwei und vierzig", "never sees the English words"),
        ("0.2", "siebzig sieben", "German says the units first"),
        ("0.2", "zwei", "Which sentence does the memory come from"),
        ("0.2", "siebenundsiebzig", "Separate the words"),
        ("0.2", 77, "as one text"),
        ("0.3", "three hundred forty two", "the number must change"),
        ("0.3", "two hundred forty", "Use each of these words once"),
        ("0.3", "forty two three hundred", "a digit before hundred"),
        ("0.3", "forty hundred two three", "not how English writes"),
        ("0.3", 243, "as one text"),
    ],
)
