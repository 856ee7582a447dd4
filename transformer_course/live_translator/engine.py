"""The translator in JavaScript, as one script for a page: see ``client.js`` for what it offers."""

from pathlib import Path

# In the order in which they build on each other. The worker runs all of them, the page the last.
MODEL = ("tensor", "weights", "tokenizer", "watch", "transformer", "generation", "translator")
SIDES = ("worker", "client")
OFFERED = (
    "answerMessages, loadTranslator, readWeights, readTokenizer, Tensor, Transformer, Translator, "
    "Watch, candidateProbabilities, draw"
)

_SCRIPT = """function transformerEngine() {{
"use strict";

{engine}
return {{ {offered} }};
}}

{client}"""


def engine_script() -> str:
    """The whole engine as a classic script, which loads nothing.

    It defines ``startEngine``, ``bytesOfBase64`` and ``transformerEngine``. The worker is made of a
    Blob from the text of the last, so the page's policy must say ``worker-src blob:``.
    """
    *engine, client = (_read(name) for name in (*MODEL, *SIDES))
    return _SCRIPT.format(engine="\n".join(engine), offered=OFFERED, client=client)


def _read(name: str) -> str:
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")
