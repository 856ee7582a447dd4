"""Lesson 05: right answers of many kinds are accepted, and each mistake is named."""

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.positional_encoding import checks

POSITIONS = """
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_length=5000):
        super().__init__()
        position = torch.arange(max_length).unsqueeze(1)
        even = torch.arange(0, d_model, 2)
        angle = position / 10_000 ** (even / d_model)
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x):
        return x + self.table[: x.size(1)]
"""
ANGLE = "position / 10_000 ** (even / d_model)"
TABLE = "table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)"
KEEP = 'self.register_buffer("table", table, persistent=False)'
ADD = "x + self.table[: x.size(1)]"
TURN = """
def turn(k, frequency):
    angle = torch.as_tensor(k * frequency)
    c, s = torch.cos(angle), torch.sin(angle)
    return torch.stack([torch.stack([c, s]), torch.stack([-s, c])])
"""
MATRIX = "torch.stack([torch.stack([c, s]), torch.stack([-s, c])])"
ANSWERS = {
    "5.1": Answers(
        POSITIONS,
        right=[
            f"{ANGLE} → position * 10_000 ** (-even / d_model)",
            f"{ANGLE} → position * torch.exp(-math.log(10_000) * even / d_model)",
            f"{ANGLE} → position / torch.pow(torch.tensor(10_000.0), even / d_model)",
            f"{ANGLE} → position * torch.exp(even.float() * (-math.log(10000.0) / d_model))",
            f"{ANGLE} → torch.outer(position.squeeze(1).float(), 10_000 ** (-even / d_model))",
            f"{ANGLE} → torch.einsum('pi,j->pj', position.float(), 1 / 10_000 ** (even / d_model))",
            "even = torch.arange(0, d_model, 2) → even = 2 * torch.arange(d_model // 2)",
            "torch.arange(max_length).unsqueeze(1) → torch.arange(max_length)[:, None].float()",
            "position = torch.arange(max_length).unsqueeze(1) → position = torch.linspace(0, max_length - 1, max_length).view(-1, 1)",
            f"{TABLE} → table = torch.zeros(max_length, d_model); table[:, 0::2] = torch.sin(angle); table[:, 1::2] = torch.cos(angle)",
            f"{TABLE} → table = torch.empty(max_length, d_model); table[:, even] = angle.sin(); table[:, even + 1] = angle.cos()",
            f"{TABLE} → table = torch.stack((torch.sin(angle), torch.cos(angle)), -1).reshape(max_length, d_model)",
            f"{TABLE} → table = (angle.repeat_interleave(2, 1) + math.pi / 2 * (torch.arange(d_model) % 2)).sin()",
            f"{TABLE} → table = torch.view_as_real(torch.polar(torch.ones_like(angle), math.pi / 2 - angle)).flatten(1)",
            f"{KEEP} → self.table = table && {ADD} → x + self.table[: x.size(1)].to(x.device)",
            f"{KEEP} → self.register_buffer('pe', table.unsqueeze(0), persistent=False) && {ADD} → x + self.pe[:, : x.size(1)]",
            f"{KEEP} → self.register_buffer('encoding', table, False) && {ADD} → x + self.encoding[: x.shape[-2]]",
            f"{ADD} → x + self.table[: x.size(1)].unsqueeze(0)",
            f"{ADD} → self.table[torch.arange(x.size(1))].expand_as(x) + x",
            f"{ADD} → x + self.table.narrow(0, 0, x.size(1))",
            f"{ADD} → x + F.embedding(torch.arange(x.size(1), device=x.device), self.table)",
            """
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_length=5000):
        super().__init__()
        self.d_model = d_model

    def forward(self, x):
        position = torch.arange(x.size(1), device=x.device)
        i = torch.arange(self.d_model, device=x.device)
        angle = position[:, None] / 10000 ** (2 * (i // 2) / self.d_model)
        return x + torch.where(i % 2 == 0, angle.sin(), angle.cos())
""",
            """
class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 5000):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe, persistent=False)

    def forward(self, x):
        return x + self.pe[:, : x.size(1), :]
""",
            """
class PositionalEncoding(nn.Module):
    def __init__(self, d, n=5000):
        super().__init__()
        rows = [[f(p / 10_000 ** (i / d)) for i in range(0, d, 2) for f in (math.sin, math.cos)] for p in range(n)]
        self.register_buffer("table", torch.tensor(rows), persistent=False)

    def forward(self, x):
        batch, position, d_model = x.shape
        return x + self.table[:position].expand(batch, -1, -1)
""",
        ],
        wrong={
            f"{ADD} → x.detach() + self.table[: x.size(1)]": "The gradient is not that of your output",
            "def forward(self, → @torch.no_grad()\n    def forward(self,": "The gradient is not that of your output",
            "torch.arange(max_length) → torch.arange(5000)": "however many these are",
            f"{TABLE} → table = torch.cat([angle.sin(), angle.cos()], dim=-1)": "All sines come first, then all cosines. In",
            f"{TABLE} → table = torch.stack([angle.cos(), angle.sin()], dim=-1).flatten(-2)": "Sine and cosine are exchanged: the sine",
            f"{TABLE} → table = torch.stack([angle.sin(), angle.cos()], dim=1).flatten(1)": "All sines come first, then all cosines. In",
            f"{TABLE} → table = torch.stack([angle.sin(), angle.sin()], dim=-1).flatten(-2)": "The first wrong number is of position 0,",
            f"{TABLE} → table = torch.zeros(max_length, d_model); table[:, : d_model // 2] = angle.sin(); table[:, d_model // 2 :] = angle.cos()": "All sines come first, then all cosines. In",
            f"{ANGLE} → position / 10_000 ** (2 * even / d_model)": "Your exponent is 4i / d_model, twice",
            f"{ANGLE} → position * 10_000 ** (even / d_model)": "The exponent has the wrong sign, or you",
            f"{ANGLE} → position / 10_000 ** (even / (d_model // 2))": "Your exponent is 4i / d_model, twice",
            f"{ANGLE} → position / 1_000 ** (even / d_model)": "The first wrong number is of position 1,",
            f"{ANGLE} → position / (10_000 * even / d_model + 1)": "The first wrong number is of position 1,",
            f"{ANGLE} → (position + 1) / 10_000 ** (even / d_model)": "Positions count from 0: the first row of",
            f"{ANGLE} → position / 10_000 ** (torch.arange(d_model // 2) / d_model)": "Your angles are divided by 10000^(i / d_model)",
            f"{ANGLE} → position / 10_000 ** (even // d_model)": "The angle is divided by 10000^(2i /",
            "even = torch.arange(0, d_model, 2) → even = torch.arange(1, d_model, 2)": "The first wrong number is of position 1,",
            f"{ADD} → self.table[: x.size(1)]": "The shape must be (batch, position,",
            f"{ADD} → x * self.table[: x.size(1)]": "You multiply x by the table",
            f"{ADD} → x + self.table[x.size(1)]": "Every position gets the same numbers: use",
            f"{ADD} → x + self.table[: x.size(0)].unsqueeze(1)": "The positions are added along the batch:",
            f"{ADD} → x + self.table": "Python stops at `return x + self.table`: Runt",
            f"{ADD} → x + self.table[: x.size(2)]": "Python stops at `return x + self.table[: x.si",
            f"{ADD} → x + self.table[1 : x.size(1) + 1]": "Positions count from 0: the first row of",
            f"{ADD} → math.sqrt(x.size(-1)) * x + self.table[: x.size(1)]": "x has its factor √d_model already",
            "10_000 → 100": "Your angles are divided by 10000^(i / d_model)",
            f"{ANGLE} → torch.deg2rad({ANGLE})": "The first wrong number is of position 1,",
            "torch.arange(max_length) → torch.arange(20)": "A sequence of 5000 positions fits the",
            "super().__init__() → pass": "Begin __init__ with super().__init__().",
            f"{TABLE} → i = torch.arange(d_model); angle = position / 10_000 ** (2 * i / d_model); table = torch.where(i % 2 == 0, angle.sin(), angle.cos())": "The first wrong number is of position 1,",
            f"{TABLE} → i = torch.arange(d_model); angle = position / 10_000 ** (i / d_model); table = torch.where(i % 2 == 0, angle.sin(), angle.cos())": "The cosine has a frequency of its own.",
            f"{KEEP} → self.register_buffer('table', table.unsqueeze(1), persistent=False) && {ADD} → x + self.table[: x.size(0)]": "The positions are added along the batch:",
            f"return {ADD} → x += self.table[: x.size(1)]; return x": "Your code changes the tensor that it gets,",
            f"return {ADD} → {ADD}": "Your function returns nothing",
            f"{KEEP} → self.table = table": "The table stays behind when the model moves",
            f"{KEEP} → self.table = nn.Parameter(table)": "The table is not learned: use",
            f"{KEEP} → {KEEP.replace(', persistent=False', '')}": "The table would be saved with the weights.",
            f"{KEEP} → self.table = nn.Parameter(table, requires_grad=False)": "The table would be saved with the weights.",
            f"{KEEP} → self.table = nn.Embedding(max_length, d_model) && {ADD} → x + self.table.weight[: x.size(1)]": "The table is not learned: use",
            f"{KEEP} → self.register_buffer('table', table[:50], persistent=False)": "A sequence of 5000 positions fits the",
            f"{ADD} → F.dropout(x + self.table[: x.size(1)])": "Two calls with the same input differ:",
            f"{ADD} → torch.cat([x, self.table[: x.size(1)].expand_as(x)], -1)": "The shape must be (batch, position,",
        },
    ),
    "5.2": Answers(
        "44",
        right=[
            "44.0",
            "torch.tensor(44)",
            "min(range(1, 51), key=lambda p: 1 - math.cos(p))",
            "int(torch.arange(1, 51).float().cos().argmax()) + 1",
            "round(14 * math.pi)",
        ],
        wrong={
            "6": "6 radians are 0.95 turns. Find the position",
            "0": "The answer is a position from 1 to 50;",
            "50": "50 radians are 7.96 turns. Find the",
            "7": "7 radians are 1.11 turns. Find the position",
            "6.28": "The answer is a whole number; yours is 6.28.",
            "22": "The sine of 22 is almost 0, as at position",
            "43": "43 radians are 6.84 turns. Find the",
            "45": "45 radians are 7.16 turns. Find the",
            "25": "25 radians are 3.98 turns. Find the",
            "[44]": "The answer is a whole number; yours is [44].",
            "-44": "The answer is a position from 1 to 50;",
            "88": "The answer is a position from 1 to 50;",
        },
    ),
    "5.3": Answers(
        TURN,
        right=[
            f"{MATRIX} → torch.tensor([[c, s], [-s, c]])",
            f"{MATRIX} → torch.stack([c, s, -s, c]).view(2, 2)",
            f"{MATRIX} → torch.linalg.matrix_exp(angle * torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))",
            f"{MATRIX} → c * torch.eye(2) + s * torch.tensor([[0.0, 1.0], [-1.0, 0.0]])",
            f"angle = torch.as_tensor(k * frequency) → angle = float(k * frequency) && torch.cos(angle), torch.sin(angle) → math.cos(angle), math.sin(angle) && {MATRIX} → torch.tensor([[c, s], [-s, c]])",
            f"{MATRIX} → torch.tensor([[c, -s], [s, c]]).T",
            f"{MATRIX} → torch.tensor([[c, s], [-s, c]], dtype=torch.float64)",
        ],
        wrong={
            "torch.sin(angle) → torch.sqrt(1 - torch.cos(angle) ** 2)": "For k = 4 and frequency 1.0, your matrix",
            f"{MATRIX} → torch.tensor([[c, -s], [s, c]])": "Your pair rotates backwards, to the",
            f"{MATRIX} → torch.tensor([[s, c], [c, -s]])": "For k = 3 and frequency 0.5, your matrix",
            f"{MATRIX} → torch.tensor([[c, s], [s, c]])": "Both sines have the same sign",
            f"{MATRIX} → torch.tensor([[c, s], [c, s]])": "Both rows are the same",
            f"{MATRIX} → torch.tensor([[-s, c], [-s, c]])": "For k = 3 and frequency 0.5, your matrix",
            "k * frequency → (k + 3) * frequency": "For k = 3 and frequency 0.5, your matrix",
            f"{MATRIX} → torch.tensor([[c, s], [-s, -c]])": "For k = 3 and frequency 0.5, your matrix",
            f"{MATRIX} → torch.tensor([[s, c], [-c, s]])": "For k = 3 and frequency 0.5, your matrix",
            f"{MATRIX} → torch.tensor([c, s, -s, c])": "The shape must be (row, column) = (2, 2); yours is",
            "k * frequency → k": "Your pair rotates by k radians, whatever",
            "k * frequency → frequency": "Your pair rotates by one position only,",
            "k * frequency → k / 10_000**frequency": "For k = 3 and frequency 0.5, your matrix",
            "k * frequency → k / frequency": "For k = 3 and frequency 0.5, your matrix",
            "k * frequency → k + frequency": "For k = 3 and frequency 0.5, your matrix",
            "k * frequency → 2 * math.pi * k * frequency": "For k = 3 and frequency 0.5, your matrix",
            "return → print && print torch → print(torch && [-s, c])]) → [-s, c])]))": "Your function returns nothing",
            f"{MATRIX} → torch.tensor([[c, s], [-s, c]]) @ torch.tensor([0.0, 1.0])": "The shape must be (row, column) = (2, 2); yours is",
            f"{MATRIX} → [[c, s], [-s, c]]": "The answer is a tensor (row, column);",
            f"{MATRIX} → torch.tensor([[-s, c], [c, s]])": "The two rows are swapped",
            f"{MATRIX} → torch.eye(2)": "For k = 3 and frequency 0.5, your matrix",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS
)
