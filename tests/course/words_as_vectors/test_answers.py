"""Lesson 01: right answers of many kinds are accepted, and each mistake is named."""

import torch

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.words_as_vectors import checks

EMBEDDING = """
class TokenEmbedding(nn.Module):
    def __init__(self, vocabulary_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocabulary_size, d_model)
        nn.init.normal_(self.table.weight, std=d_model**-0.5)
        self.scale = math.sqrt(d_model)

    def forward(self, token_ids):
        return self.table(token_ids) * self.scale
"""
SIMILAR = """
def most_similar(table, token_id):
    rows = F.normalize(table, dim=1)
    cosines = rows @ rows[token_id]
    cosines[token_id] = -2
    return int(cosines.argmax())
"""
START = "nn.init.normal_(self.table.weight, std=d_model**-0.5)"
LOOKUP = "self.table(token_ids) * self.scale"
TABLE = "nn.Embedding(vocabulary_size, d_model)"
CHOOSE = "cosines[token_id] = -2\n    return int(cosines.argmax())"
ANSWERS = {
    "1.1": Answers(
        EMBEDDING,
        right=[
            f"{START} → nn.init.normal_(self.table.weight, 0, 1 / math.sqrt(d_model))",
            f"{START} → with torch.no_grad(): self.table.weight.normal_(0, d_model**-0.5)",
            f"{START} → self.table.weight.data.normal_(std=(1 / d_model) ** 0.5)",
            f"{START} → self.table.weight.data /= math.sqrt(d_model)",
            f"{START} → self.table.weight = nn.Parameter(torch.randn(vocabulary_size, d_model) / d_model**0.5)",
            f"{START} → self.table.weight.data = torch.normal(0.0, d_model**-0.5, (vocabulary_size, d_model))",
            f"{TABLE} → nn.Embedding.from_pretrained(torch.randn(vocabulary_size, d_model), freeze=False)",
            f"{TABLE} → nn.Embedding(num_embeddings=vocabulary_size, embedding_dim=d_model)",
            f"{TABLE} → nn.Embedding(vocabulary_size, d_model, padding_idx=0)",
            f"{TABLE} → nn.Embedding(vocabulary_size, d_model, sparse=True)",
            f"{START} → nn.init.trunc_normal_(self.table.weight, std=d_model**-0.5)",
            f"{LOOKUP} → F.embedding(token_ids, self.table.weight) * self.scale",
            f"{LOOKUP} → self.scale * self.table.weight[token_ids]",
            f"{LOOKUP} → self.table(token_ids) * self.table.embedding_dim**0.5",
            f"{LOOKUP} → (x := self.table(token_ids)) * x.size(-1) ** 0.5",
            f"{LOOKUP} → self.table(token_ids) * torch.sqrt(torch.tensor(self.table.weight.shape[1]))",
            f"{LOOKUP} → self.table(token_ids).mul_(self.scale)",
            f"{LOOKUP} → F.one_hot(token_ids, len(self.table.weight)).float() @ self.table.weight * self.scale",
            f"{LOOKUP} → torch.stack([self.table(ids) * self.scale for ids in token_ids])",
            f"{LOOKUP} → torch.index_select(self.table.weight, 0, token_ids.flatten()).view(*token_ids.shape, -1) * self.scale",
            'self.scale = math.sqrt(d_model) → self.register_buffer("scale", torch.tensor(d_model).sqrt(), persistent=False)',
            "vocabulary_size → n && d_model → width && token_ids → ids",
        ],
        wrong={
            f"{LOOKUP} → self.table(token_ids)": "The factor is missing: multiply the rows by",
            f"{LOOKUP} → self.table(token_ids) * self.scale**2": "You multiplied by d_model; the factor is",
            f"{LOOKUP} → self.table(token_ids) / self.scale": "You divided by √d_model; the paper",
            f"{LOOKUP} → self.table(token_ids) * math.sqrt(len(self.table.weight))": "You multiplied by √vocabulary_size; the",
            f"{LOOKUP} → self.table.weight * self.scale": "The shape must be (batch, position,",
            f"{LOOKUP} → (self.table(token_ids) * self.scale).sum(dim=1)": "The shape must be (batch, position,",
            f"{LOOKUP} → self.table(token_ids.T) * self.scale": "The shape must be (batch, position,",
            f"{LOOKUP} → self.table(token_ids).detach() * self.scale": "The gradient is not that of your output",
            f"{LOOKUP} → F.dropout(self.table(token_ids) * self.scale)": "Two calls with the same input differ:",
            f"return {LOOKUP} → self.table.weight.data *= self.scale; return self.table(token_ids)": "Two calls with the same input differ:",
            f"return {LOOKUP} → vectors = {LOOKUP}": "Your function returns nothing",
            f"{START} → ": "The numbers have standard deviation 1, as",
            f"{START} → nn.init.normal_(self.table.weight, d_model**-0.5)": "(The second argument of normal_ is the mean,",
            f"{START} → nn.init.normal_(self.table.weight, d_model**-0.5, 0)": "All numbers of the table are 0.24",
            f"{START} → nn.init.normal_(self.table.weight)": "(and normal_, if no std is given)",
            f"{START} → self.table.weight = torch.randn(vocabulary_size, d_model) / d_model**0.5": "A layer's weight is an nn.Parameter",
            f"{START} → nn.init.normal_(self.table.weight, std=1 / d_model)": "1/d_model is the variance. The standard",
            f"{START} → nn.init.normal_(self.table.weight, std=d_model**0.5)": "√d_model is the factor of forward; the",
            f"{START} → nn.init.xavier_uniform_(self.table.weight)": "The standard deviation at the start should",
            f"{START} → nn.init.zeros_(self.table.weight)": "The standard deviation at the start should",
            f"{START} → nn.init.uniform_(self.table.weight, -((3 / d_model) ** 0.5), (3 / d_model) ** 0.5)": "but N is *normal*",
            f"{START} → self.table.weight.data = (torch.randn(1, d_model) / d_model**0.5).repeat(vocabulary_size, 1)": "Several tokens start with the same row:",
            f"{TABLE} → nn.Embedding(vocabulary_size, d_model, max_norm=0.5)": "These are not the rows of the table",
            f"{LOOKUP} → self.table(token_ids[:1]).expand(len(token_ids), -1, -1) * self.scale": "These are not the rows of the table",
            'self.scale = math.sqrt(d_model) → self.register_buffer("scale", torch.tensor(d_model).sqrt())': "remove the other",
            "self.scale = math.sqrt(d_model) → self.scale = 4": "Your rows are multiplied by 4.",
            "self.scale = math.sqrt(d_model) → self.scale = int(math.sqrt(d_model))": "Your rows are multiplied by 4.",
            "self.scale = math.sqrt(d_model) → self.scale = math.sqrt(18)": "Right for one width, wrong for another:",
            "return self.table → batch, position = token_ids.shape; return self.table": "not enough values to unpack",
            f"{TABLE} → nn.Embedding(d_model, vocabulary_size)": "The table is turned around: a row for each",
            f"{TABLE} → nn.Embedding.from_pretrained(torch.randn(vocabulary_size, d_model))": "table.weight is frozen: it has",
            f"{TABLE} → nn.Linear(vocabulary_size, d_model)": "__init__ must set self.table to an",
            f"{TABLE} → nn.Parameter(torch.randn(vocabulary_size, d_model)) && .weight → && {LOOKUP} → self.table[token_ids] * self.scale": "__init__ must set self.table to an",
            "self.table → self.embedding": "__init__ must set self.table to an",
            "(nn.Module) → ": "The answer is the class TokenEmbedding",
            "super().__init__() → pass": "Begin __init__ with super().__init__().",
            "def __init__(self, vocabulary_size, d_model) → def __init__(self, d_model, vocabulary_size)": "The table is turned around: a row for each",
        },
    ),
    "1.2": Answers(
        SIMILAR,
        right=[
            "cosines = rows @ rows[token_id] → cosines = F.cosine_similarity(table, table[token_id], dim=-1)",
            f"{CHOOSE} → return next(i for i in cosines.argsort(descending=True).tolist() if i != token_id)",
            f"{CHOOSE} → return cosines.topk(2).indices[1].item()",
            f"{CHOOSE} → return max((i for i in range(len(table)) if i != token_id), key=lambda i: cosines[i])",
            "rows = F.normalize(table, dim=1) → rows = table / table.norm(dim=1, keepdim=True)",
            'cosines[token_id] = -2 → cosines[token_id] = -float("inf")',
            "int(cosines.argmax()) → cosines.argmax()",
            "return int → cosines = cosines.clone(); return int",
        ],
        wrong={
            "cosines[token_id] = -2 → pass": "That is the word itself; the exercise asks",
            "cosines[token_id] = -2 → cosines[token_id] = 0": "All cosines with other words can be negative",
            f"F.normalize(table, dim=1) → table && {CHOOSE} → return int(cosines.topk(2).indices[1])": "A long row wins because",
            "F.normalize(table, dim=1) → table": "A long row wins because of its length: the",
            "cosines[token_id] = -2\n    return int(cosines.argmax()) → return int(cosines.argsort()[1])": "argsort begins with the smallest",
            "rows = F.normalize(table, dim=1) → rows = table && rows @ rows[token_id] → rows @ rows[token_id] / rows.square().sum(1)": "divided by their squares",
            "return int(cosines.argmax()) → return int(cosines.max())": "a cosine, cut to a whole number",
            "argmax → argmin": "That is the word itself; the exercise asks",
            "int(cosines.argmax()) → cosines.max()": "That is a cosine, not an id",
            "cosines[token_id] = -2\n    return int(cosines.argmax()) → return float(cosines.max())": "That is a cosine, not an id",
            "int(cosines.argmax()) → cosines": "The answer is a whole number; yours is",
            "rows = F.normalize(table, dim=1) → table[token_id] = 0; rows = F.normalize(table, dim=1)": "Your code changes the tensor that it gets,",
            "dim=1 → dim=0": "A long row wins because of its length: the",
            "cosines = rows @ rows[token_id] → cosines = -torch.cdist(table, table)[token_id]": "You compare distances",
            f"{CHOOSE} → others = torch.cat([cosines[:token_id], cosines[token_id + 1 :]]); return int(others.argmax())": "The right row is the next one. Without the",
            "cosines = rows @ rows[token_id] → cosines = (rows @ rows[token_id]).abs()": "Without its sign, a cosine",
            "return int(cosines.argmax()) → print(int(cosines.argmax()))": "Your function returns nothing",
        },
    ),
    "1.3": Answers(
        "torch.stack([table[0], table[1], 2 * table[2]])",
        right=[
            "table * torch.tensor([[1.0], [1.0], [3.0]])",
            "torch.stack([table[0], 0.5 * table[1], table[2]])",
            "(t := table.clone()).__setitem__(2, t[2] * 5) or t",
            "torch.diag(torch.tensor([1.0, 1.0, 10.0])) @ table",
            "torch.tensor([[2.0, 1.0], [1.8, 1.2], [5.0, 20.0]])",
        ],
        wrong={
            "table": "Your table equals cat_dog_soup. Either your",
            "table * 3": "You have changed 3 rows; one is enough.",
            "torch.stack([3 * table[0], table[1], table[2]])": "cat · dog is 14.4 and cat · soup is 9.0. A",
            "torch.stack([table[0], table[1], -5 * table[2]])": "A negative number turns a vector around:",
            "torch.stack([table[0], table[1], 1.1 * table[2]])": "The right row, changed too little",
            "torch.stack([table[0], 0.5 * table[1], 3 * table[2]])": "You have changed 2 rows; one is enough.",
            "torch.stack([table[0], table[1], table[2] + 2])": "The cosines have changed. Multiply a whole",
            "torch.stack([table[0], 0 * table[1], table[2]])": "A vector of zeros",
            "torch.stack([table[0], table[2], table[1]])": "The cosines have changed. Multiply a whole",
            "3 * table[2]": "The shape must be (word, 2) = (3, 2); yours",
            "table * 1e40": "Some numbers are infinite: multiply by a",
            "table.mul_(torch.tensor([[1.0], [1.0], [3.0]]))": "Your table equals cat_dog_soup. Either your",
            "[*table[:2].tolist(), (table[2] * 2).tolist()]": "The answer is a tensor (word, 2); yours is",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks),
    ANSWERS,
    exercise_13=lambda: {"table": torch.tensor([[2.0, 1.0], [1.8, 1.2], [0.5, 2.0]])},
)
