"""A model so small that its every sentence can be written down: a table of what follows what.

It has the four methods that greedy search, beam search and sampling ask for. Used in
notebooks/12_generation.ipynb.
"""

import math
from collections.abc import Mapping
from numbers import Real

import torch
from torch import Tensor, nn

from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.model.special_ids import END_ID, SPECIAL_TOKENS, UNKNOWN_ID

END_TOKEN = SPECIAL_TOKENS[END_ID]


class TableModel(nn.Module):
    """Reads from a table how probable each word is after a beginning; the source says nothing.

    ``vocabulary`` holds the words; ``source_ids``, shape (1, 1), will do as a source.

    Args:
        table: For a beginning, such as ``"there is"`` or at first ``""``, the probability of each
            word that may follow; ``"</s>"`` is the end. A beginning that it does not hold ends.

    Raises:
        ValueError: If nothing comes first, the probabilities after a beginning do not sum to 1,
            nothing leads to a beginning, or a beginning has a space too many.
    """

    def __init__(self, table: Mapping[str, Mapping[str, float]]) -> None:
        super().__init__()
        _require_table(table)
        words = (word for row in table.values() for word in row if word != END_TOKEN)
        self.vocabulary = Vocabulary(words)
        self.source_ids = torch.tensor([[UNKNOWN_ID]], device="cpu")
        self._rows = {
            tuple(self.vocabulary.encode(beginning.split())): self._log_probabilities(row)
            for beginning, row in table.items()
        }
        self._end = self._log_probabilities({END_TOKEN: 1.0})
        self._table = table

    def _log_probabilities(self, row: Mapping[str, float]) -> Tensor:
        size = (len(self.vocabulary),)
        logs = torch.full(size, -torch.inf, dtype=torch.float64, device="cpu")
        for word, probability in row.items():
            token_id = END_ID if word == END_TOKEN else self.vocabulary.encode([word])[0]
            logs[token_id] = math.log(probability)
        return logs

    def sentences(self) -> dict[str, float]:
        """Every sentence with its log-probability: exhaustive search; the empty one is ""."""
        found, beginnings = {}, [("", 0.0)]
        while beginnings:
            beginning, total = beginnings.pop()
            for word, probability in self._table.get(beginning, {END_TOKEN: 1.0}).items():
                longer = total + math.log(probability)
                if word == END_TOKEN:
                    found[beginning] = longer
                else:
                    beginnings.append((f"{beginning} {word}".strip(), longer))
        return found

    def source_mask(self, source_ids: Tensor) -> Tensor:
        """Everything may be read, shape (batch, 1, 1, source position)."""
        return torch.ones_like(source_ids, dtype=torch.bool)[:, None, None]

    def encode(self, source_ids: Tensor, *, source_mask: Tensor | None = None) -> Tensor:
        """The source as it is: nothing depends on it."""
        return source_ids

    def decode(
        self, target_ids: Tensor, memory: Tensor, *, source_mask: Tensor | None = None
    ) -> Tensor:
        """Look up what follows each position.

        Args:
            target_ids: What is written, the start token first, shape (batch, target position).
            memory: Not read.
            source_mask: Not read.

        Returns:
            Log-probabilities, -inf for what cannot follow: (batch, target position, vocabulary).
        """
        return torch.stack(
            [
                torch.stack(
                    [self._rows.get(tuple(row[1:end]), self._end) for end in range(1, len(row) + 1)]
                )
                for row in target_ids.tolist()
            ]
        )

    def project(self, decoded: Tensor) -> Tensor:
        """Log-probabilities are logits already."""
        return decoded


def sentence_table(sentences: Mapping[str, float], *, starred: str) -> str:
    """All sentences with their probabilities, the most probable first, to print.

    Args:
        sentences: The log-probability of each, as TableModel.sentences returns them.
        starred: The one that gets a star.
    """
    lines = []
    for words in sorted(sentences, key=sentences.get, reverse=True):
        star, total = "*" if words == starred else " ", sentences[words]
        lines.append(f"{star} {words:15} p = {math.exp(total):.3f}   ln p = {total:.2f}")
    return "\n".join(lines)


def _require_table(table: Mapping[str, Mapping[str, float]]) -> None:
    """Refuse, with a ValueError, rows that are no probabilities or that nothing leads to."""
    if "" not in table:
        raise ValueError(
            f"table must say what comes first, under the empty text, got {list(table)}"
        )
    for beginning, row in table.items():
        if not isinstance(beginning, str):
            raise ValueError(f"table must have a text for each beginning, got {beginning!r}")
        if beginning != " ".join(beginning.split()):
            raise ValueError(
                "table must have one space between the words of a beginning and none at its ends, "
                f"got {beginning!r}"
            )
        numbers = [each for each in row.values() if isinstance(each, Real)]
        are_probabilities = len(numbers) == len(row) and all(0 < each <= 1 for each in numbers)
        if not are_probabilities or not math.isclose(sum(numbers), 1, abs_tol=1e-9):
            raise ValueError(
                f"table must give probabilities above 0 that sum to 1 after {beginning!r}, "
                f"got {dict(row)}"
            )
        for word in row:
            if not isinstance(word, str) or word.split() != [word]:
                raise ValueError(f"table must have single words after {beginning!r}, got {word!r}")
        *before, last = ["", *beginning.split()]
        if beginning and last not in table.get(" ".join(before).strip(), {}):
            raise ValueError(
                f"table must lead to each of its beginnings (all words so far), got {beginning!r}"
            )
