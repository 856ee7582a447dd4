"""A question comes with its answers, and the outcome stays closed until the reader opens it."""

import base64
import html
import re
import sys
from itertools import permutations

import matplotlib.pyplot as plt
import nbformat
import pytest
from IPython.display import display
from IPython.testing.globalipapp import start_ipython
from IPython.utils.capture import capture_output
from nbconvert import HTMLExporter

from tests.published import caught_bundles
from transformer_course.asking import predict as module
from transformer_course.asking.predict import (
    OPEN,
    OUTCOME,
    SAID,
    is_observed,
    predict,
    right_answers,
    shuffled,
)
from transformer_course.asking.predict import _in_css as in_css
from transformer_course.drawing.display import IN_THE_DARK, show

QUESTION, ANSWERS = "Is 2 < 3 & 4?", ("yes, <b>it</b> is", "no")


@pytest.fixture(scope="module", autouse=True)
def shell():
    """What a notebook has: figures are captured where IPython publishes them."""
    return start_ipython()


@pytest.fixture
def published(monkeypatch) -> list[dict]:
    return caught_bundles(monkeypatch, module)


def outcome_of(page: str) -> str:
    return re.search(r"<details[^>]*>(.*)</details>", page, re.DOTALL)[1]


def show_a_bar() -> None:
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.bar([0], [1])
    show(figure, alt='one "bar"')


def test_one_output_has_the_question_the_answers_and_a_closed_outcome(published, capsys):
    with predict(QUESTION, *ANSWERS):
        print("2 < 3")
    ((page, plain, outcome),) = (each["data"].values() for each in published)
    assert "<p><b>Is 2 &lt; 3 &amp; 4?</b></p>" in page
    assert page.count('<input type="radio"') == len(ANSWERS)
    assert "yes, &lt;b&gt;it&lt;/b&gt; is" in page
    assert "<details" in page and "<details open" not in page
    assert f"{OPEN}</summary>" in page
    assert outcome_of(page).endswith("<pre>2 &lt; 3\n</pre>")
    first, second = shuffled(QUESTION, ANSWERS)
    assert plain == f"Is 2 < 3 & 4?\n( ) {first}\n( ) {second}"
    assert outcome == "2 < 3\n"
    assert capsys.readouterr().out == ""


def test_only_one_answer_of_a_question_can_be_chosen_and_questions_do_not_disturb_each_other(
    published,
):
    for question in ("One?", "Two?", "One?"):
        with predict(question, *ANSWERS):
            pass
    names = [set(re.findall('name="([^"]+)"', each["data"]["text/html"])) for each in published]
    assert [len(each) for each in names] == [1, 1, 1]
    assert names[0] != names[1]
    assert names[0] == names[2]


def test_a_figure_is_in_the_outcome_with_its_words_and_nowhere_else(published):
    with predict(QUESTION, *ANSWERS):
        show_a_bar()
        print("printed")
    (bundle,) = published
    page = bundle["data"]["text/html"]
    png = re.search(r'<img[^>]* src="data:image/png;base64,([^"]+)"', outcome_of(page))[1]
    assert base64.b64decode(png).startswith(b"\x89PNG")
    assert 'alt="one &quot;bar&quot;"' in outcome_of(page)
    assert bundle["data"].keys() == {"text/html", "text/plain", OUTCOME}
    assert bundle["data"][OUTCOME] == "printed\n"


def test_html_and_plain_text_are_shown_too(published):
    with predict(QUESTION, *ANSWERS):
        publish_html("<table></table>")
    with predict(QUESTION, *ANSWERS):
        publish_plain("a < b")
    first, second = (outcome_of(each["data"]["text/html"]) for each in published)
    assert first.endswith("<table></table>")
    assert second.endswith("<pre>a &lt; b</pre>")


def publish_html(text: str) -> None:
    display({"text/html": text, "text/plain": "a table"}, raw=True)


def publish_plain(text: str) -> None:
    display({"text/plain": text}, raw=True)


def test_answers_are_shown_in_one_order_however_they_are_written(published):
    answers = ["a", "b", "c", "d"]
    orders = {shuffled("Which?", each) for each in permutations(answers)}
    assert len(orders) == 1 and set(*orders) == set(answers)
    assert len({shuffled(f"Which of {count}?", answers) for count in range(99)}) > 12
    with predict("Which?", *answers):
        pass
    shown = re.findall(r"> (\w)</label>", published[0]["data"]["text/html"])
    assert orders == {tuple(shown)}


def test_the_outcome_says_what_is_right_where_the_question_is_of_the_course(published):
    question, right = next(iter(right_answers().items()))
    for answers in ((right, "another"), ("one", "another")):
        with predict(question, *answers):
            print("printed")
    known, unknown = (each["data"]["text/html"] for each in published)
    assert f"It is: <b>{html.escape(right)}</b>" in outcome_of(known)
    assert known.count("<b>") == 3  # Predict, the question, and what is right
    assert "It is:" not in unknown


def test_where_the_answer_is_an_observation_a_row_asks_how_sure_the_reader_is(published):
    for question, right in right_answers().items():
        with predict(question, right, "another"):
            pass
        page = published.pop()["data"]["text/html"]
        above, _, below = page.partition("<details")
        assert above.count('role="radiogroup"') == is_observed(question, (right, "another"))
        for sure, said in SAID.items():
            shown = f"> {sure}</label>" in above
            assert [shown] * 2 == [in_css(words) in below for words in said]
    assert (
        40 < sum(is_observed(question, [right]) for question, right in right_answers().items()) < 70
    )
    with predict(question, "not right", "another"):
        pass
    assert 'role="radiogroup"' not in published.pop()["data"]["text/html"]


def test_no_answer_can_leave_the_style_that_repeats_it(published):
    answers = ('</style><script>"x"</script>', "back\\slash", 'quo"te', "lines\nof it")
    with predict(QUESTION, *answers):
        pass
    page = published[0]["data"]["text/html"]
    (style,) = re.findall("<style>(.*)</style>", page, re.DOTALL)
    assert style.endswith(IN_THE_DARK)  # for the pictures of the notebook
    style = style.removesuffix(IN_THE_DARK)
    assert "<" not in style and style.count('content: "') == len(answers)
    assert style.count('"') == 4 * len(answers)


def test_an_error_in_the_block_is_raised_and_nothing_is_published(published):
    with pytest.raises(ZeroDivisionError), predict(QUESTION, *ANSWERS):
        print(1 / 0)
    assert published == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_a_block_printed_and_showed_before_an_error_is_seen(error, published, capsys):
    with (
        capture_output(stdout=False, stderr=False) as seen,
        pytest.raises(error),
        predict(QUESTION, *ANSWERS),
    ):
        print("found so far")
        print("careful", file=sys.stderr)
        show_a_bar()
        raise error
    assert capsys.readouterr() == ("found so far\n", "careful\n")
    assert ["image/png" in each.data for each in seen.outputs] == [True]
    assert published == []


def test_a_warning_stays_visible(published, capsys):
    with predict(QUESTION, *ANSWERS):
        print("careful", file=sys.stderr)
    assert capsys.readouterr().err == "careful\n"


@pytest.mark.parametrize("answers", [(), ("one",), ("a", "b", "c", "d", "e"), ("a", "a")])
def test_too_few_too_many_or_equal_answers_are_refused(answers):
    with (
        pytest.raises(ValueError, match="two to four different texts"),
        predict("Which?", *answers),
    ):
        pass


def test_a_question_without_words_is_refused():
    with (
        pytest.raises(ValueError, match="question must be a sentence, got ' '"),
        predict(" ", "a", "b"),
    ):
        pass


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("Which?", 1, 2), "answers must be text, got 1"),
        (("Which?", ["a", "b"]), r"answers must be text, got \['a', 'b'\]"),
        ((None, "a", "b"), "question must be text, got None"),
    ],
)
def test_a_question_or_an_answer_that_is_no_text_is_refused(given, message):
    with pytest.raises(TypeError, match=message), predict(*given):
        pass


def test_an_exported_page_keeps_question_answers_and_outcome(published):
    with predict(QUESTION, *ANSWERS):
        show_a_bar()
    output = nbformat.v4.new_output("display_data", data=published[0]["data"])
    cell = nbformat.v4.new_code_cell("with predict(): ...", outputs=[output])
    exported, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    (page,) = re.findall("<fieldset.*</fieldset>", exported, re.DOTALL)
    assert "Is 2 &lt; 3 &amp; 4?" in page
    assert len(re.findall('<input [^>]*type="radio"', page)) == len(ANSWERS)
    png = re.search('base64,([^"]+)"', published[0]["data"]["text/html"])[1]
    assert png in outcome_of(page)
