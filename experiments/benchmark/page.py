"""What a reader waits for in a page: the translator in a browser, from its files to every key.

The clock tells what a reader feels; CPU time is that of the whole page, and tells about the same on
a machine that has other work.
"""

import base64
import statistics
from collections.abc import Iterator

from experiments.benchmark.page_memory import report_memory_of_page
from experiments.benchmark.timing import machine, markdown_table
from transformer_course.live_translator.engine import engine_script
from transformer_edu.data.everyday import everyday_pairs
from transformer_edu.pretrained.loading import FOLDER

ROUNDS, WORDS = 100, 10  # sentences, and the words of each
TYPED = 3  # of these sentences, key by key
SHOWN = 150  # sentences of 8 to 11 words, of which the page draws everything
START = """async ([weights, tokenizer, text]) => {
  const files = { weights: bytesOfBase64(weights), tokenizer }, start = performance.now();
  window.engine = await startEngine(files);
  const loaded = performance.now() - start;
  await engine.translate(text);
  return [loaded, performance.now() - start];
}"""
TIMES = """async ([texts, method, options]) => {
  const times = [];
  for (const text of texts) {
    const start = performance.now();
    await engine[method](text, options);
    times.push(performance.now() - start);
  }
  return times;
}"""


def report_page(rounds: int | None = None) -> Iterator[str]:
    """Measure in Chromium, and tell line by line.

    Args:
        rounds: How many sentences; ROUNDS when None.

    Yields:
        What was measured and where, then a table.

    Raises:
        ModuleNotFoundError: If playwright or psutil is not installed.
        playwright.sync_api.Error: If no browser can be started.
    """
    import psutil
    from playwright.sync_api import sync_playwright

    from tools.chromium import launch

    def renderer() -> psutil.Process:
        processes = psutil.Process().children(recursive=True)
        pages = [each for each in processes if "--type=renderer" in each.cmdline()]
        return max(pages, key=lambda each: each.memory_info().rss)

    def cpu_milliseconds() -> float:
        return 1000 * sum(renderer().cpu_times()[:2])

    texts = [text for text, _ in everyday_pairs().test if len(text.split()) == WORDS]
    texts = texts[: rounds or ROUNDS]
    typed = [text[:end] for text in texts[:TYPED] for end in range(1, len(text) + 1)]
    yield f"The translator in a page of Chromium. {machine()}.\n"
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.add_script_tag(content=engine_script())
        weights = base64.b64encode((FOLDER / "model.safetensors").read_bytes()).decode()
        tokenizer = (FOLDER / "tokenizer.json").read_text("utf-8")
        before = cpu_milliseconds()
        loaded, first = page.evaluate(START, [weights, tokenizer, texts[0]])
        used = cpu_milliseconds() - before
        yield f"Files read after {loaded:.0f} ms, the first translation after {first:.0f} ms."
        yield f"CPU time of both, and of decoding the files: {used:.0f} ms.\n"
        rows = []
        for name, asked, method, options in (
            (f"a sentence of {WORDS} words", texts, "translate", {}),
            ("a key", typed, "translate", {}),
            ("a sentence, beam of 5", texts, "translate", {"width": 5}),
            ("every value of a sentence", texts, "look", {}),
        ):
            before = cpu_milliseconds()
            times = page.evaluate(TIMES, [asked, method, options])
            used = (cpu_milliseconds() - before) / len(asked)
            numbers = (statistics.median(times), max(times), used)
            rows.append([name, str(len(asked)), *(f"{number:.0f}" for number in numbers)])
        yield markdown_table(["", "count", "median, ms", "most, ms", "CPU, mean, ms"], rows)
        browser.close()
    yield ""
    shown = [text for text, _ in everyday_pairs().test if 8 <= len(text.split()) <= 11]
    yield from report_memory_of_page(shown[:SHOWN])
