"""Grades as a table for a spreadsheet, and as a page for a browser."""

import csv
import html
import io
from collections import Counter
from collections.abc import Iterable, Sequence

from transformer_edu.teaching.grade.outcomes import CORRECT, HINT, WAITING, Row

COLUMNS = ("file", "exercise", "outcome", "hint")
STYLE = """\
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin-bottom: 2rem; width: 100%; }
caption { font-weight: bold; text-align: left; }
th, td { border-bottom: 1px solid #8888; padding: 0.3em 0.6em; text-align: left; }
th, td { vertical-align: top; }
[scope="row"] { min-width: 8em; overflow-wrap: anywhere; }
.outcome { white-space: nowrap; }
.correct { color: #00735a; }
.hint { color: #a8560a; }
@media (prefers-color-scheme: dark) { .correct { color: #5ccfab; } .hint { color: #ffab5e; } }
"""
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Grades</title>
<style>
{style}</style>
</head>
<body>
<h1>Grades</h1>
<div tabindex="0" role="region" aria-label="Outcomes"><table>
<caption>Notebooks, by exercise and outcome</caption>
{summary}</table></div>
<div tabindex="0" role="region" aria-label="Notebooks"><table>
<caption>Every notebook</caption>
{rows}</table></div>
</body>
</html>
"""


def as_csv(rows: Iterable[Row]) -> str:
    """A table with a line for each row. A spreadsheet takes no cell of it for a formula."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in rows:
        cells = [getattr(row, column) for column in COLUMNS]
        writer.writerow(
            [f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in cells]
        )
    return file.getvalue()


def as_page(rows: Sequence[Row]) -> str:
    """A page in HTML: how often each outcome occurs in each exercise, then a line for each row."""
    counts = Counter((row.exercise, row.outcome) for row in rows if row.exercise)
    outcomes = dict.fromkeys([CORRECT, HINT, WAITING, *(outcome for _, outcome in counts)])
    numbers = sorted({number for number, _ in counts}, key=lambda n: [*map(int, n.split("."))])
    summary = _heads(["exercise", *outcomes])
    for number in numbers:
        summary += _line(number, *(str(counts[number, outcome]) for outcome in outcomes))
    lines = _heads(COLUMNS)
    for row in rows:
        lines += _line(row.file, row.exercise, row.outcome, row.hint, mark=row.outcome)
    return PAGE.format(style=STYLE, summary=summary, rows=lines)


def _heads(names: Iterable[str]) -> str:
    return "<tr>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr>\n"


def _line(head: str, *cells: str, mark: str = "") -> str:
    """A line of a table; mark is the cell that gets a color."""
    text = f'<tr><th scope="row">{html.escape(head)}</th>'
    for cell in cells:
        kind = f' class="outcome {mark}"' if cell == mark else ""
        text += f"<td{kind}>{html.escape(cell)}</td>"
    return text + "</tr>\n"
