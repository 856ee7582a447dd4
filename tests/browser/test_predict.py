"""What a reader has chosen stands in the outcome, without a script; and it is remembered."""

import pytest

from tests.published import caught_bundles
from transformer_course.asking import predict as module
from transformer_course.asking.predict import predict, right_answers

WIDE = {"width": 800, "height": 600}
ANSWERS = ('"quoted" </style>', r"back\slash & 7", "plain: 50%, ß", "a + b = c'")
VERDICT = "p => getComputedStyle(p, '::before').content + p.textContent"


@pytest.fixture
def asked(opened, monkeypatch):
    """A page with two questions, the first one of the course."""
    published = caught_bundles(monkeypatch, module)
    question, right = next(iter(right_answers().items()))
    with predict(question, right, "another", "a third"):
        print("printed")
    with predict("Which?", *ANSWERS):
        pass
    return opened("".join(each["data"]["text/html"] for each in published))


def test_the_outcome_repeats_the_answer_that_is_chosen(asked):
    first, second = asked.locator("fieldset").all()
    verdict = second.locator("details p")
    assert verdict.evaluate(VERDICT) == "none"
    for answer in ANSWERS:
        second.get_by_role("radio", name=answer, exact=True).check()
        said = verdict.evaluate(VERDICT).replace('\\"', '"').replace("\\\\", "\\")
        assert said.startswith(f'"You chose: {answer}')
    first.locator("summary").click()
    assert first.locator("details p").evaluate(VERDICT).startswith("noneIt is: ")
    first.get_by_role("radio", name="another").check()
    assert '"You chose: another' in first.locator("details p").evaluate(VERDICT)
    assert first.locator("details p").inner_text().startswith("It is: ")
