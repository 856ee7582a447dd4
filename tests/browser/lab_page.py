"""One lesson in a browser, in JupyterLab: run it, and move what can be moved, by keyboard."""

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as NothingHappened

from tests.browser.jupyterlab import Server

NOTEBOOK = ".jp-NotebookPanel .jp-Notebook"
SECONDS_TO_RUN = 1200  # ends what hangs, as the limit of a cell does
SECONDS_TO_CHANGE = 4  # to show what has been computed; a step may leave the picture as it is
SECONDS_TO_RETURN = 60  # what must come may take long on a busy machine

RUN_ALL = """async (seconds) => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = app.shell.currentWidget;
    await panel.context.ready;
    await panel.sessionContext.ready;
    const late = new Promise((_, fail) => setTimeout(() => fail("too slow"), 1000 * seconds));
    await Promise.race([app.commands.execute("notebook:run-all-cells"), late]);
}"""
CELLS = "() => window.jupyterapp.shell.currentWidget.content.model.toJSON().cells"
IS_IDLE = """() =>
    window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status === "idle"
"""
# The kernel answers in the order of the questions: after this, it has redrawn.
ANSWER = """async (seconds) => {
    const late = new Promise((_, fail) => setTimeout(() => fail("no answer"), 1000 * seconds));
    const session = window.jupyterapp.shell.currentWidget.sessionContext.session;
    await Promise.race([session.kernel.requestKernelInfo(), late]);
}"""
END_KERNEL = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


class LabPage:
    """A lesson that is open in JupyterLab.

    Args:
        page: The browser's.
        server: Of whose notebooks it shows one.
        name: The notebook's.
    """

    def __init__(self, page: Page, server: Server, name: str) -> None:
        self.page = page
        page.goto(server.page_of(name))
        page.wait_for_selector(f"{NOTEBOOK} .jp-Cell")
        page.wait_for_function(IS_IDLE)

    def run_all(self) -> None:
        """Run every cell, until the kernel has nothing more to do."""
        self.page.evaluate(RUN_ALL, SECONDS_TO_RUN)
        self.page.wait_for_function(IS_IDLE)

    def failures(self) -> list[str]:
        """What went wrong in the cells, except where a cell announces it."""
        found = []
        for index, cell in enumerate(self.page.evaluate(CELLS)):
            if cell["cell_type"] != "code" or "raises-exception" in cell["metadata"].get(
                "tags", []
            ):
                continue
            if cell["execution_count"] is None:
                found.append(f"cell {index} did not run")
            for output in cell["outputs"]:
                if output["output_type"] == "error":
                    found.append(f"cell {index}: {output['ename']}: {output['evalue']}")
        return found

    def end_kernel(self) -> None:
        """Free its memory."""
        self.page.evaluate(END_KERNEL)

    def wait_for(self, count: int) -> None:
        """Wait until so many explorers, viewers and live figures are on the page."""
        script = "([css, count]) => document.querySelectorAll(css).length >= count"
        self.page.wait_for_function(script, arg=[MOVING, count])

    def explorers(self) -> list["Explorer"]:
        """All that have controls, from top to bottom."""
        boxes = self.page.locator(f"{NOTEBOOK} .widget-vbox:has(> .widget-html)")
        return [Explorer(box) for box in boxes.all()]

    def predictions(self) -> list[Locator]:
        """The boxes of all Predicts, from top to bottom."""
        return self.page.locator(f"{NOTEBOOK} fieldset:has(details)").all()

    def viewers(self) -> list[Locator]:
        """The frames of all attention viewers, from top to bottom."""
        return self.page.locator(f"{NOTEBOOK} .attention-viewer > iframe").all()

    def live_figures(self) -> list[Locator]:
        """The frames of all live figures without a kernel, from top to bottom."""
        return self.page.locator(f"{NOTEBOOK} .jp-RenderedHTML {LIVE}").all()


LIVE = ".live-figure:not(.attention-viewer) > iframe"
MOVING = f"""{NOTEBOOK} :is(
    .widget-vbox:has(> .widget-html), .attention-viewer > iframe, .jp-RenderedHTML {LIVE}
)"""
PICTURE = ":scope > .widget-html :is(img, svg, iframe)"  # a live one is drawn as SVG or framed
SOURCE = "(shown?.srcdoc ?? shown?.src ?? shown?.outerHTML ?? '')"


class Explorer:
    """Some controls and, below them, one picture.

    Args:
        box: What holds them.
    """

    def __init__(self, box: Locator) -> None:
        self.box = box
        assert self._wait("source !== before", "", SECONDS_TO_RETURN), "there is no picture"

    def picture(self) -> str:
        """The picture's source, empty where an error stands in its place."""
        script = f"(box, picture) => (shown => {SOURCE})"
        return self.box.evaluate(f"{script}(box.querySelector(picture))", PICTURE)

    def controls(self) -> list["Control"]:
        """Every control, from top to bottom; one that is unknown here is an error."""
        rows = self.box.locator("> :not(.widget-html)").all()
        return [_control(row) for row in rows]

    def has_another(self, before: str) -> bool:
        """Whether, after a redraw, there is something else than this picture."""
        return self._wait("source !== before", before, SECONDS_TO_CHANGE)

    def has_again(self, picture: str) -> bool:
        """Whether, after a redraw, there is this picture."""
        return self._wait("source === before", picture, SECONDS_TO_RETURN)

    def settle(self) -> None:
        """Wait until the kernel has answered what it was asked so far."""
        self.box.page.evaluate(ANSWER, SECONDS_TO_RETURN)

    def _wait(self, condition: str, picture: str, seconds: float) -> bool:
        self.settle()
        script = f"""([box, before]) => {{
            const shown = box.querySelector("{PICTURE}");
            if (!shown) return box.querySelector(":scope > .widget-html pre") !== null;
            const source = {SOURCE};
            return {condition} && shown.complete !== false && shown.clientWidth > 100;
        }}"""
        handle = self.box.element_handle()
        try:
            self.box.page.wait_for_function(script, arg=[handle, picture], timeout=1000 * seconds)
        except NothingHappened:
            return False
        return True


class Control:
    """Something to be moved.

    Args:
        row: It and its label.
    """

    element = ""  # a CSS selector that tells this kind

    def __init__(self, row: Locator) -> None:
        self.handle = row.locator(self.element).first
        self.label = row.locator(".widget-label, .widget-label-basic").first.inner_text()

    def value(self) -> str:
        """What it is set to."""
        return self.handle.input_value()

    def step(self) -> None:
        """Change its value."""
        raise NotImplementedError

    def step_back(self) -> None:
        """Undo one step."""
        raise NotImplementedError


class Slider(Control):
    """Moved by the arrow keys, towards its farther end."""

    element = "[role=slider]"

    def __init__(self, row: Locator) -> None:
        super().__init__(row)
        least, now, most = (
            float(self.handle.get_attribute(f"aria-value{end}")) for end in ("min", "now", "max")
        )
        keys = ["ArrowRight", "ArrowLeft"]
        self.keys = keys if most - now >= now - least else keys[::-1]

    def value(self) -> str:
        return self.handle.get_attribute("aria-valuenow")

    def step(self) -> None:
        self.handle.press(self.keys[0])

    def step_back(self) -> None:
        self.handle.press(self.keys[1])


class Checkbox(Control):
    """Ticked by the space bar."""

    element = "input[type=checkbox]"

    def value(self) -> str:
        return str(self.handle.is_checked())

    def step(self) -> None:
        self.handle.press("Space")

    step_back = step


class Field(Control):
    """Filled by typing, and done with Enter."""

    element = "input[type=text], input[type=number]"

    def __init__(self, row: Locator) -> None:
        super().__init__(row)
        self.first = self.value()

    def step(self) -> None:
        is_number = self.handle.get_attribute("type") == "number"
        self._type("70001" if is_number else "Two dogs are playing in the snow.")

    def step_back(self) -> None:
        self._type(self.first)

    def _type(self, text: str) -> None:
        self.handle.press("ControlOrMeta+a")
        self.handle.press("Delete")  # what is selected, also where nothing is typed
        self.handle.page.keyboard.type(text)
        self.handle.press("Enter")


class Dropdown(Control):
    """Chosen from. JupyterLab itself takes the arrow keys, so the browser is asked to choose."""

    element = "select"

    def __init__(self, row: Locator) -> None:
        super().__init__(row)
        self.first = self.value()

    def step(self) -> None:
        count = self.handle.locator("option").count()
        chosen = self.handle.evaluate("select => select.selectedIndex")
        self.handle.select_option(index=(chosen + 1) % count)

    def step_back(self) -> None:
        self.handle.select_option(self.first)


class Toggles(Control):
    """Buttons of which one is pressed, by the space bar."""

    element = ".widget-toggle-button"

    def __init__(self, row: Locator) -> None:
        super().__init__(row)
        self.buttons = row.locator(self.element)
        self.first = self.value()

    def value(self) -> str:
        pressed = self.buttons.evaluate_all(
            "all => all.findIndex(each => each.classList.contains('mod-active'))"
        )
        return str(pressed)

    def step(self) -> None:
        self._press((int(self.value()) + 1) % self.buttons.count())

    def step_back(self) -> None:
        self._press(int(self.first))

    def _press(self, index: int) -> None:
        self.buttons.nth(index).press("Space")


def _control(row: Locator) -> Control:
    kinds = [kind for kind in Control.__subclasses__() if row.locator(kind.element).count()]
    assert len(kinds) == 1, f"no test knows how to move {row.inner_html()}"
    return kinds[0](row)
