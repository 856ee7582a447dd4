"""The review asks what was answered wrongly, spaces it over days, and tells the kernel."""

import json
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.published import caught_bundles
from transformer_course.asking import predict as predict_module
from transformer_course.asking.predict import predict
from transformer_course.my_transformer import SWITCH
from transformer_course.review import page as module
from transformer_course.review.page import FILE, review
from transformer_course.review.questions import course_questions

WIDE = {"width": 800, "height": 600}
FIRST, SECOND, THIRD, *_ = course_questions()
BEFORE = """\
<meta charset="utf-8"><script>
for (const [name, text] of Object.entries({kept})) localStorage.setItem(name, text);
const Now = Date;
Date = class extends Now {{
  constructor(...given) {{
    given.length ? super(...given) : super(Now.now() + {days} * 864e5);
  }}
}};
</script>
"""


def wrong(question):
    return next(answer for answer in question.answers if answer != question.right)


@pytest.fixture
def opened_review(opened, monkeypatch, tmp_path):
    """Open the review on some day, in a browser that keeps these texts."""
    published = caught_bundles(monkeypatch, module)
    monkeypatch.setattr(module, "get_ipython", lambda: None)  # the test has a field of its own
    monkeypatch.chdir(tmp_path)

    def open_it(kept, *, days=0, file=None):
        monkeypatch.setenv(SWITCH, "0" if file is None else "1")
        if file is not None:
            (tmp_path / FILE).write_text(json.dumps(file))
        review()
        shown = published[-1]["data"]["text/html"]
        around = f'<div class="jp-OutputArea">{shown}<textarea hidden></textarea></div>'
        return opened(BEFORE.format(kept=json.dumps(kept), days=days) + around)

    return open_it


def answer(page, text):
    page.get_by_role("radio", name=text, exact=True).check()
    page.get_by_role("button", name="Answer").click()


def kept_by(page):
    return page.evaluate("() => ({...localStorage})")


def test_only_what_was_answered_wrongly_is_asked(opened_review):
    kept = {FIRST.group: f" {wrong(FIRST)}", SECOND.group: f" {SECOND.right}"}
    page = opened_review(kept)
    text = page.locator(".transformer-review").inner_text()
    assert "Found 2 answers in this browser; 1 Predict answered wrongly." in text
    assert FIRST.question in text and SECOND.question not in text
    assert page.get_by_role("button", name="Answer").is_disabled()
    answer(page, FIRST.right)
    assert f"Right. It is: {FIRST.right} ({FIRST.place}). It comes again in 1 day." in (
        page.get_by_role("status").inner_text()
    )
    page.get_by_role("button", name="Continue").click()
    assert "Nothing more is due today. Waiting: 1" in page.inner_text("body")


def test_what_was_certain_and_wrong_comes_first(opened_review):
    kept = {each.group: wrong(each) for each in (FIRST, SECOND, THIRD)}
    page = opened_review(
        kept | {f"{SECOND.group}-sure": " fairly sure", f"{THIRD.group}-sure": " certain"}
    )
    review = page.locator(".transformer-review")
    assert "Found 3 answers in this browser; 3 Predicts answered wrongly." in review.inner_text()
    for question, is_certain in ((THIRD, True), (FIRST, False), (SECOND, False)):
        assert question.question in review.inner_text()
        assert ("you were certain of a wrong answer" in review.inner_text()) == is_certain
        answer(page, question.right)
        page.get_by_role("button", name="Continue").click()


def test_without_answers_it_says_what_to_do(opened_review):
    page = opened_review({})
    assert "There is nothing to review: choose answers in the lessons" in page.inner_text("body")


def test_a_right_answer_waits_longer_each_time_until_it_is_learned_and_a_wrong_one_begins_again(
    opened_review,
):
    kept, days = {FIRST.group: wrong(FIRST)}, 0
    for wait in (1, 3, 7, 14, 30, None):
        page = opened_review(kept, days=days)
        answer(page, FIRST.right)
        kept = kept_by(page)
        said = page.get_by_role("status").inner_text()
        if wait is None:
            assert "You have learned it." in said
        else:
            assert f"It comes again in {wait} day" in said
            early = opened_review(kept, days=days + wait - 1)
            assert "Nothing more is due today" in early.inner_text("body")
            days += wait
    page = opened_review(kept, days=days + 1000)
    assert "All cards are learned: 1." in page.inner_text("body")
    half = {
        FIRST.group: wrong(FIRST),
        "transformer-edu-review": json.dumps({FIRST.group: [4, 0, 0]}),
    }
    page = opened_review(half)
    answer(page, wrong(FIRST))
    said = page.get_by_role("status").inner_text()
    assert f"Not yet. It is: {FIRST.right}" in said and "It comes again in 1 day." in said


def test_the_file_and_the_browser_are_joined_and_the_kernel_is_told(opened_review):
    file = {"answers": {SECOND.group: wrong(SECOND)}, "cards": {SECOND.group: [2, 0, 5]}}
    page = opened_review({THIRD.group: wrong(THIRD)}, file=file)
    text = page.locator(".transformer-review").inner_text()
    assert f"Found 1 answer in this browser and 1 answer in {FILE}; 2 Predicts" in text
    answer(page, SECOND.right)
    told = json.loads(page.locator("textarea").input_value())
    assert told["answers"] == {SECOND.group: wrong(SECOND), THIRD.group: wrong(THIRD)}
    assert told["cards"][SECOND.group][0] == 3 and told["cards"][THIRD.group][0] == 0


@pytest.mark.parametrize("card", ["null", '"x"', "[1]", "[-5, 0, 0]", "[1.5, 0, 0]"])
def test_a_damaged_card_is_left_out_and_stops_no_other(opened_review, card):
    kept = {FIRST.group: wrong(FIRST), "transformer-edu-review": f'{{"{FIRST.group}": {card}}}'}
    page = opened_review(kept, file={"answers": {}, "cards": {}})
    answer(page, FIRST.right)
    told = json.loads(page.locator("textarea").input_value())
    assert told["cards"][FIRST.group][0] == 1


@pytest.mark.parametrize("card", [[1, 40_001, 40_000], [0, 40_000, 0]])
def test_a_clock_that_was_ahead_puts_no_card_off(opened_review, card):
    file = {"answers": {FIRST.group: wrong(FIRST)}, "cards": {FIRST.group: card}}
    page = opened_review({}, file=file)
    assert "Due today: 1" in page.locator(".transformer-review").inner_text()
    answer(page, FIRST.right)
    box, due, last = json.loads(page.locator("textarea").input_value())["cards"][FIRST.group]
    assert box == card[0] + 1 and last < due < 40_000


def test_in_jupyterlab_an_answer_of_a_lesson_comes_again_and_the_kernel_keeps_it(
    chromium, tmp_path, monkeypatch
):
    from tests.browser.jupyterlab import running_lab  # needs what a test may lack
    from tests.browser.lab_page import LabPage

    monkeypatch.delenv(SWITCH, raising=False)
    asked = f"with predict({FIRST.question!r}, *{FIRST.answers!r}):\n    print('printed')"
    cells = [
        new_code_cell(f"from transformer_course.asking.predict import predict\n{asked}"),
        new_code_cell("from transformer_course.review import review\n\nreview()"),
    ]
    notebook = new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)"}
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    with running_lab(tmp_path) as server, chromium.new_context(viewport=WIDE) as context:
        context.set_default_timeout(120_000)
        lab = LabPage(context.new_page(), server, "lesson.ipynb")
        lab.run_all()
        page = lab.page
        page.get_by_role("radio", name=wrong(FIRST), exact=True).check()
        lab.run_all()
        page.locator(".transformer-review fieldset").wait_for()
        answer(page.locator(".transformer-review"), FIRST.right)
        deadline = time.monotonic() + 60
        kept = {}
        while kept.get(FIRST.group, [0])[0] == 0 and time.monotonic() < deadline:
            page.wait_for_timeout(200)
            if (tmp_path / FILE).exists():
                kept = json.loads((tmp_path / FILE).read_text())["cards"]
    assert kept[FIRST.group][0] == 1 and kept[FIRST.group][1] == kept[FIRST.group][2] + 1


def test_a_predict_keeps_what_was_chosen_before_its_outcome_was_opened(opened, monkeypatch):
    published = caught_bundles(monkeypatch, predict_module)
    with predict(FIRST.question, *FIRST.answers):
        print("printed")
    page = opened(published[0]["data"]["text/html"])
    page.get_by_role("radio", name=wrong(FIRST), exact=True).check()
    page.locator("summary").click()
    page.get_by_role("radio", name=FIRST.right, exact=True).check()
    assert {name: text.strip() for name, text in kept_by(page).items()} == {
        FIRST.group: wrong(FIRST)
    }
