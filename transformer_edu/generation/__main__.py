"""Translate standard input, line by line: ``python -m transformer_edu.generation runs/x < text``.

With ``--marian FOLDER`` instead of a run, a published Marian model translates.

Every line is written as soon as it is translated; an empty line stays empty. If a line is too long
for the model, the command writes an empty line, and names it on standard error. With ``--engine
ctranslate2``, for very many lines, it reads and writes BLOCK lines at a time.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("transformer_edu.generation.__main__")

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from transformer_edu.data.parallel_text import BYTE_ORDER_MARK, decode_line
from transformer_edu.generation.continuation import LARGEST_WIDTH
from transformer_edu.generation.translator import ALPHA, WIDTH, TextTooLongError, Translator
from transformer_edu.model.refusals import require_whole
from transformer_edu.pretrained.ctranslate2_engine import fast_translator
from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.pretrained.marian_folder import load_marian
from transformer_edu.training.machine.device import DEVICE_VARIABLE, pick_device, suitable_threads
from transformer_edu.training.machine.failures import one_line_errors, report
from transformer_edu.training.saved_translator import load_translator

ABOUT = "Translate standard input line by line with a trained model."
BLOCK = 1024  # lines for CTranslate2 at once: it sorts them by length, and each thread takes some


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and translate standard input to its end.

    Returns:
        The exit status: 0, 1 after an error, 130 after Ctrl-C. A line that is too long is an
        error too; the lines after it are still translated.
    """
    parser = argparse.ArgumentParser(prog="python -m transformer_edu.generation", description=ABOUT)
    models = parser.add_mutually_exclusive_group()
    models.add_argument("run", nargs="?", help="folder of a run; the model in the package")
    models.add_argument("--marian", metavar="FOLDER", help="folder of a published Marian model")
    parser.add_argument("--beam", type=int, default=WIDTH, help=f"1 is greedy ({WIDTH})")
    parser.add_argument("--alpha", type=float, default=ALPHA, help=f"favors long ({ALPHA})")
    parser.add_argument("--loops", action="store_true", help="let the model repeat itself")
    parser.add_argument("--device", help="cpu, cuda or mps; the best one here")
    parser.add_argument("--engine", choices=("pytorch", "ctranslate2"), default="pytorch")
    parser.add_argument("--compute-type", help="of ctranslate2: int8, or float32, the default")
    chosen, status = parser.parse_args(arguments), 0
    require_whole("beam", chosen.beam, maximum=LARGEST_WIDTH)
    if sys.stdin is None:
        raise ValueError("standard input must be open to be translated, got a closed one")
    if chosen.device is not None:
        os.environ[DEVICE_VARIABLE] = chosen.device
    if chosen.marian is not None:
        translator = load_marian(chosen.marian)
    else:
        translator = load_pretrained() if chosen.run is None else load_translator(chosen.run)
    translator.model.to(pick_device())
    is_fast = chosen.engine == "ctranslate2"
    if is_fast:
        translator = fast_translator(translator, compute_type=chosen.compute_type or "float32")
    elif chosen.compute_type:
        raise ValueError(f"engine must be ctranslate2 for a compute type, got {chosen.engine}")
    try:
        with suitable_threads(translator.model):
            asked = {"width": chosen.beam, "alpha": chosen.alpha, "end_loops": not chosen.loops}
            lines = read_lines(sys.stdin.buffer)
            block = BLOCK if is_fast else 1
            for line, error in translate_lines(translator, lines, block=block, **asked):
                if error:
                    report(f"error: {error}")
                    status = 1
                print(line, flush=True)
    except BrokenPipeError:  # the program that reads our lines has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def translate_lines(
    translator: Translator, lines: Iterable[str], *, block: int = 1, **settings: float
) -> Iterator[tuple[str, str]]:
    """Translate lines, each block of them before the next is read.

    Args:
        translator: Its model runs where it is.
        lines: Without line feeds.
        block: How many to translate together.
        settings: Those of Translator.translate_all.

    Yields:
        For each line its translation and "". If it has more tokens than the model has positions:
        "" and the error, which names the line.

    Raises:
        ValueError: If a line cannot be translated for another reason; the message names the line.
    """
    numbered = enumerate(lines, start=1)
    while together := list(islice(numbered, block)):
        yield from _translate_together(translator, together, **settings)


def _translate_together(
    translator: Translator, numbered: list[tuple[int, str]], **settings: float
) -> Iterator[tuple[str, str]]:
    """Translate lines with their numbers; on an error the halves, down to the line it is about."""
    try:
        texts = translator.translate_all([line for _, line in numbered], **settings)
    except ValueError as error:
        if len(numbered) > 1:
            middle = len(numbered) // 2
            yield from _translate_together(translator, numbered[:middle], **settings)
            yield from _translate_together(translator, numbered[middle:], **settings)
        elif isinstance(error, TextTooLongError):
            yield "", f"{error} (line {numbered[0][0]:,})"
        else:
            raise ValueError(f"{error} (line {numbered[0][0]:,})") from error
    else:
        yield from ((" ".join(text.splitlines()), "") for text in texts)  # a line for a line


def read_lines(stream: Iterable[bytes]) -> Iterator[str]:
    """The lines of a stream as text, without the byte-order mark that may begin the first.

    Raises:
        ValueError: If a line is not UTF-8; it is named.
    """
    for number, line in enumerate(stream, start=1):
        line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        yield decode_line("standard input", number, line).removesuffix("\n")
