"""What a reader has chosen stands in the outcome, without a script; and it is remembered."""

import pytest

from tests.browser.conftest import violations
from tests.published import caught_bundles
from transformer_course.asking import predict as module
from transformer_course.asking.predict import SAID, is_observed, predict, right_answers

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


def test_the_outcome_takes_up_how_sure_the_reader_was_and_the_browser_keeps_it(opened, monkeypatch):
    published = caught_bundles(monkeypatch, module)
    question, right = next(
        each for each in right_answers().items() if is_observed(each[0], each[1:])
    )
    with predict(question, "not right", right):
        print("printed")
    shown = published[0]["data"]["text/html"]
    page = opened(f"<html lang='en'><title>A</title><main><h1>A lesson</h1>{shown}</main>")
    sure, verdict = (
        page.get_by_role("radiogroup", name="How sure are you?"),
        page.locator("details p"),
    )
    said = "p => getComputedStyle(p, '::after').content"
    page.get_by_role("radio", name=right, exact=True).press("Space")
    page.locator("summary").click()
    assert verdict.evaluate(said) == "none"  # an answer is enough
    page.locator("summary").click()
    sure.get_by_role("radio").first.press("Space")
    for key, (if_right, if_wrong) in zip(
        ("Space", "ArrowDown", "ArrowDown"), SAID.values(), strict=True
    ):
        page.locator(":focus").press(key)
        for answer, words in ((right, if_right), ("not right", if_wrong)):
            page.get_by_role("radio", name=answer, exact=True).evaluate("e => { e.checked = true }")
            assert verdict.evaluate(said) == f'"\\a {words}"'
    kept = page.evaluate("() => ({...localStorage})")
    assert [kept[name].strip() for name in sorted(kept)] == [right, "certain"]
    page.locator("summary").click()
    assert violations(page) == []
