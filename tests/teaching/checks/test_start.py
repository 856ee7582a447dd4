"""Lesson 00: right answers pass, and each usual wrong answer is named."""

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import start as lesson_00

CHECKS = checks_of(lesson_00)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("0.1", 6),
        ("0.2", lambda logits: int(logits[0, -1].argmax())),
        ("0.2", lambda logits: logits[:, -1].softmax(-1).argmax(-1)),
        ("0.3", "sieben und siebzig"),
        ("0.3", "Sieben  und siebzig "),
        ("0.3", "<s> sieben und siebzig </s>"),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("0.1", 5, "how does the loop know"),
        ("0.1", 4, "number of English words"),
        ("0.1", 1, "encoder is the one that runs once"),
        ("0.1", 7, "Count one run"),
        ("0.2", lambda logits: int(logits[0, 0].argmax()), "after the first position"),
        ("0.2", lambda logits: logits.argmax(-1), "One id is wanted, you gave 3"),
        ("0.2", lambda logits: float(logits[0, -1].max()), "a logit, not a position"),
        ("0.2", lambda logits: logits.sum((0, 1)).argmin(), "logits.0, -1."),
        ("0.2", lambda logits: logits[0, 7], "IndexError"),
        ("0.3", "drei hundert zwei und vierzig", "never sees the English words"),
        ("0.3", "siebzig sieben", "German says the units first"),
        ("0.3", "zwei", "Which sentence does the memory come from"),
        ("0.3", "siebenundsiebzig", "Separate the words"),
        ("0.3", 77, "as one text"),
    ],
)
