"""Lesson 11: right repairs of many kinds are accepted, and each mistake is named."""

from tests.course.diagnosis.friends import ADD_AND_NORM, FEED_FORWARD
from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.diagnosis import checks, probe_checks

NORM = f"""
{ADD_AND_NORM}

class RepairedAddAndNorm(FriendsAddAndNorm):
    def forward(self, x, sublayer):
        total = x + self.dropout(sublayer(x))
        away = total - total.mean(dim=-1, keepdim=True)
        spread = away.square().mean(dim=-1, keepdim=True)
        return self.gain * away / (spread + 1e-5).sqrt() + self.bias
"""
SPREAD = "spread = away.square().mean(dim=-1, keepdim=True)"
MEAN = "away = total - total.mean(dim=-1, keepdim=True)"
RETURNED = "return self.gain * away / (spread + 1e-5).sqrt() + self.bias"
ADDED = "total = x + self.dropout(sublayer(x))"
WITH_LAYER_NORM = """
class RepairedAddAndNorm(nn.Module):
    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return self.norm(x + self.drop(sublayer(x)))
"""
WITH_A_NORM_OF_ITS_OWN = f"""
{ADD_AND_NORM}

class RepairedAddAndNorm(FriendsAddAndNorm):
    def __init__(self, d_model, dropout=0.1):
        super().__init__(d_model, dropout)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, sublayer):
        return self.norm(x + self.dropout(sublayer(x)))
"""
ONE_BY_ONE = f"""
{ADD_AND_NORM}

class RepairedAddAndNorm(FriendsAddAndNorm):
    def norm(self, vector):
        away = vector - vector.mean()
        return self.gain * away / (away.square().mean() + 1e-5) ** 0.5 + self.bias

    def forward(self, x, sublayer):
        total = x + self.dropout(sublayer(x))
        return torch.stack([torch.stack([self.norm(each) for each in row]) for row in total])
"""
PROBE = """
def padding_probe(model, source_ids, target_ids):
    with torch.no_grad():
        before = model(source_ids, target_ids)
        after = model(F.pad(source_ids, (0, 3)), target_ids)
    return (after - before).abs().max().item()
"""
APPENDED, LARGEST = "F.pad(source_ids, (0, 3))", "(after - before).abs().max().item()"
BY_PARTS = """
def padding_probe(model, source_ids, target_ids):
    def logits(ids):
        mask = model.source_mask(ids)
        return model.project(model.decode(target_ids, model.encode(ids, mask), mask))

    with torch.no_grad():
        return (logits(F.pad(source_ids, (0, 3))) - logits(source_ids)).abs().max().item()
"""
ROW_BY_ROW = """
@torch.no_grad()
def padding_probe(model, source_ids, target_ids):
    changes = []
    for source, target in zip(source_ids.split(1), target_ids.split(1)):
        changes.append(model(F.pad(source, (0, 3)), target) - model(source, target))
    return torch.stack(changes).abs().max().item()
"""
NETWORK = f"""
{FEED_FORWARD}

class RepairedFeedForward(FriendsFeedForward):
    def forward(self, x):
        hidden = self.widen(x).relu()
        dropped = F.dropout(hidden, self.dropout, training=self.training)
        return self.narrow(dropped)
"""
BEHIND = "F.dropout(self.narrow(dropped), self.dropout, self.training)"
DROPPED = "dropped = F.dropout(hidden, self.dropout, training=self.training)"
WITH_MODULE = f"""
{FEED_FORWARD}

class RepairedFeedForward(FriendsFeedForward):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__(d_model, d_ff, dropout)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.narrow(self.drop(self.widen(x).relu()))
"""
IN_ONE = """
class RepairedFeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        layers = nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model)
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)
"""
BY_HAND = """if self.training:
            kept = torch.rand_like(hidden) >= self.dropout
            hidden = hidden * kept / (1 - self.dropout)
        dropped = hidden"""
ROW_BY_ROW = """
def padding_probe(model, source_ids, target_ids):
    worst = 0.0
    for i in range(source_ids.size(0)):
        source, target = source_ids[i : i + 1], target_ids[i : i + 1]
        change = model(F.pad(source, (0, 3)), target) - model(source, target)
        worst = max(worst, change.abs().max().item())
    return worst
"""
LOSS = """
def repaired_loss(model, source_ids, target_ids):
    reads, labels = target_ids[:, :-1], target_ids[:, 1:]
    logits = model(source_ids, reads)
    return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=0)
"""
CROSS_ENTROPY = "F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=0)"
LOG_P = "log_p = logits.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)"

ANSWERS = {
    "11.1": Answers(
        NORM,
        right=[
            WITH_LAYER_NORM,
            ONE_BY_ONE,
            f"{RETURNED} → return F.layer_norm(total, x.shape[-1:], self.gain, self.bias)",
            f"{SPREAD} → spread = total.var(dim=2, unbiased=False, keepdim=True)",
            f"{SPREAD} → spread = total.std(-1, keepdim=True) ** 2",
            f"{MEAN} → mean = total.mean(dim=-1).unsqueeze(-1) && "
            f"{SPREAD} → away, spread = total - mean, ((total - mean) ** 2).mean(2, keepdim=True)",
            f"{RETURNED} → return away * torch.rsqrt(spread + 1e-6) * self.gain + self.bias",
        ],
        wrong={
            ONE_BY_ONE.replace("mean() + 1e-5", "mean().item() + 1e-5"): "The gradient is not that of your output",
            f"{SPREAD} → spread = away.detach().square().mean(dim=-1, keepdim=True)": "The gradient is not that of your output",
            f"{ADDED} → total = x + self.dropout(sublayer(2 * x))": "The sub-layer must get x itself",
            f"{ADDED} → total = x + nn.functional.dropout(sublayer(x), 0.1, self.training)": "use the rate that is given",
            ADD_AND_NORM: "Over which axis",
            WITH_A_NORM_OF_ITS_OWN: "gain gets no gradient",
            f"{SPREAD} → spread = away.mean(dim=-1, keepdim=True).square()": "one of yours has",
            f"{SPREAD} → {SPREAD.replace('-1', '1')}": "Over which axis",
            f"{MEAN} → away = total - total.mean() && {SPREAD} → "
            "spread = away.square().mean()": "over all axes",
            f"{MEAN} → {MEAN.replace('-1', '0')} && "
            f"{SPREAD} → {SPREAD.replace('-1', '0')}": "runs over axis 0",
            f"{MEAN} → away = total - total.mean(dim=-1)": "keepdim=True",
            f"{RETURNED} → {RETURNED.replace('.sqrt()', '')}": "You divided by the variance",
            f"{RETURNED} → {RETURNED.replace('return', 'return x +')}": "You add x again",
            f"{ADDED} → total = self.dropout(sublayer(x))": "The residual is gone",
            f"{ADDED} → total = x + sublayer(x)": "no longer dropped",
            f"{ADDED} → total = self.dropout(x + sublayer(x))": "Dropout removes x",
            f"{ADDED} → total = x + F.dropout(sublayer(x), self.dropout.p)": "In evaluation mode, numbers",
            f"{ADDED} → x += self.dropout(sublayer(x)) && {MEAN} → total = x\n        {MEAN}": "change a clone",
            f"{RETURNED} → return away / (spread + 1e-5).sqrt()": "gain gets no gradient",
            f"{RETURNED} → return self.gain * away / (spread + 1e-5).sqrt()": "bias gets no gradient",
            f"{MEAN} → away = total": "one of yours has",
            f"{SPREAD} → spread = total.square().mean(dim=-1, keepdim=True)": "one of yours has",
            f"{RETURNED} → return self.gain * away + self.bias": "one of yours has",
            f"{MEAN} → mean = total.mean(dim=-1, keepdim=True); away = total - mean && {RETURNED} → "
            "return self.gain * total - mean / (spread + 1e-5).sqrt() + self.bias": "one of yours has",
            f"{ADDED} → total = x - self.dropout(sublayer(x))": "its vectors are not those of x +",
            f"{ADDED} → x = x + self.dropout(sublayer(x))\n        {ADDED}": "runs 2 times",
            f"{RETURNED} → {RETURNED.replace('1e-5', '1e-2')}": "Is your epsilon small?",
            f"{RETURNED} → return self.gain * (away / (spread + 1e-5).sqrt() + self.bias)": "gain times",
            "sublayer(x) → sublayer(sublayer(x))": "runs 2 times",
        },
    ),
    "11.2": Answers(
        PROBE,
        right=[
            BY_PARTS,
            "abs().max().item() → abs().amax()",
            f"{APPENDED} → torch.cat([source_ids, torch.zeros_like(source_ids[:, :3])], dim=1)",
            f"{APPENDED} → torch.cat([source_ids, source_ids.new_zeros(len(source_ids), 3)], 1)",
            ROW_BY_ROW,
            "model(source_ids, target_ids) → model(source_ids=source_ids, target_ids=target_ids)",
            f"{LARGEST} → max((after - before).max(), (before - after).max()).item()",
            f"{LARGEST} → (before - after).flatten().norm(p=math.inf).item()",
            "F.pad(source_ids, (0, 3)) → nn.functional.pad(source_ids, (0, 3), value=0)",
            "with torch.no_grad(): → if True: && .item() → .detach().numpy().max()",
            ROW_BY_ROW,
        ],
        wrong={
            "(0, 3) → (0, 1)": "differ by 1 of the 3 columns",
            "(after - before).abs().max() → (after.abs() - before.abs()).abs().max()": "subtract first, then take",
            "(after - before).abs().max() → (after.max() - before.max()).abs()": "the largest logits of both",
            f"{APPENDED} → F.pad(source_ids, (3, 0))": "so their positions changed",
            f"{APPENDED} → F.pad(source_ids, (0, 3), value=2)": "Padding has the id 0",
            f"{APPENDED} → F.pad(source_ids, (0, 3), value=1)": "Padding has the id 0",
            f"{APPENDED} → source_ids && target_ids)\n    return → "
            "F.pad(target_ids, (0, 3)))[:, :-3]\n    return": "gets the same source",
            f"after = model({APPENDED}, → {APPENDED}; after = model(source_ids,": "gets the same source",
            "def padding_probe(model, source_ids, target_ids): → def padding_probe(model, source_ids, target_ids):\n"
            f"    source_ids = {APPENDED} && model({APPENDED} → model(source_ids": "gets the same source",
            "model(source_ids, target_ids) → model(target_ids, source_ids) && "
            f"model({APPENDED}, target_ids) → model(target_ids, {APPENDED})[:, :-3]": "gets the same source",
            f"{APPENDED}, target_ids) → F.pad(source_ids, (0, 0, 0, 3)), F.pad(target_ids, (0, 0, 0, 3)))[:3]": "differ by 0 of the 3 columns",
            "    with torch →     source_ids[:, -1:] = 0\n    with torch": "change a clone",
            f"{LARGEST} → (after - before).max().item()": "a negative change",
            f"{LARGEST} → (after - before).abs().mean().item()": "mean",
            f"{LARGEST} → (after - before).mean().item()": "mean",
            f"{LARGEST} → (after - before).abs().sum().item()": "added up the changes",
            f"{LARGEST} → (after - before).square().max().item()": "squared the changes",
            f"{LARGEST} → (after.softmax(-1) - before.softmax(-1)).abs().max().item()": "compare logits",
            f"{APPENDED} → source_ids": "every call of the model gets the same source",
            f"{LARGEST} → (after - before).abs()": "The answer is a number",
            f"{LARGEST} → (after - before).abs()[0, -1].max().item()": "is not the largest",
            f"{LARGEST} → (after - before).abs()[0].max().item()": "that of the first row",
            f"{LARGEST} → (after - before).abs()[:, 0].max().item()": "that of the first position",
            f"{LARGEST} → (after - before).abs()[-1].max().item()": "that of the last row",
            f"{LARGEST} → (after - before).abs()[:, -1].max().item()": "that of the last position",
            f"{LARGEST} → bool(((after - before).abs() > 1e-4).any())": "The answer is a number",
            f"{APPENDED} → F.pad(source_ids, (0, 0, 0, 3))": "the same batch size",
            f"{APPENDED}, target_ids) → {APPENDED}, F.pad(target_ids, (0, 3)))[:, : target_ids.size(1)]": "You pad the target, too",
            "with torch.no_grad(): → model.train()\n    if True: && .item() → .detach().item()": "in training mode",
        },
    ),
    "11.3": Answers(
        NETWORK,
        right=[
            WITH_MODULE,
            IN_ONE,
            f"{DROPPED} → dropped = F.dropout(hidden, self.dropout) if self.training else hidden",
            f"{DROPPED} → dropped = nn.functional.dropout(hidden, self.dropout, self.training)",
            f"{DROPPED} → {BY_HAND}",
            f"{DROPPED} → dropped = F.dropout(hidden, self.dropout * self.training)",
        ],
        wrong={
            FEED_FORWARD: "two calls still differ",
            f"{DROPPED} → {DROPPED.replace('F.dropout(', 'F.dropout1d(')}": "drop each by itself",
            f"{DROPPED} → {DROPPED.replace('=self.training', '=True')}": "two calls still differ",
            f"{DROPPED} → {DROPPED.replace('self.training', 'not self.training')}": "the other way round",
            f"{DROPPED} → with torch.no_grad():\n            {DROPPED}": "widen.weight gets no gradient",
            f"{DROPPED} → dropped = hidden if self.training else F.dropout(hidden, self.dropout)": "the other way round",
            f"{DROPPED} → {DROPPED.replace('self.dropout', '1 - self.dropout')}": "of the hidden numbers are dropped",
            f"{DROPPED} → {DROPPED.replace('self.dropout', 'self.dropout / 2')}": "about 5% of the hidden numbers",
            f"{DROPPED} → {BY_HAND.replace('>=', '<')}": "of the hidden numbers are dropped",
            f"{DROPPED} → {BY_HAND.replace('(1 - self.dropout)', 'self.dropout')}": "NaN",
            f"{DROPPED} → {DROPPED.replace('self.training', 'False')}": "nothing is dropped",
            f"{DROPPED} → dropped = hidden": "nothing is dropped",
            f"{DROPPED} → dropped = F.dropout(hidden, self.training)": "The second argument",
            "self.dropout, training → 0.1, training": "the rate that is given",
            f"{DROPPED} → {BY_HAND.replace(' / (1 - self.dropout)', '')}": "divided by",
            ".relu() →": "narrow(relu(widen(x)))",
            f"{DROPPED} → if not hasattr(self, 'drop'):\n            self.drop = nn.Dropout(self.dropout)\n        dropped = self.drop(hidden)": "A new nn.Dropout is in training",
            "hidden = → self.train(); hidden =": "changes the mode of the module",
            "self.dropout, training → 1 - self.dropout, training": "the rate that is given",
            "self.widen(x) → self.widen(self.widen(x))": "Python stops at",
            f"{DROPPED} → dropped = nn.Dropout(self.dropout)(hidden)": "A new nn.Dropout is in training",
            f"{DROPPED} → dropped = hidden && return self.narrow(dropped) → "
            f"return {BEHIND}": "Your dropout is behind narrow",
            f"{DROPPED} → dropped = hidden && self.widen(x) → "
            "self.widen(F.dropout(x, self.dropout, self.training))": "something else than numbers of hidden",
        },
    ),
    "11.4": Answers(
        LOSS,
        right=[
            f"return {CROSS_ENTROPY} → return F.cross_entropy("
            "logits.flatten(0, 1), labels.flatten(), ignore_index=0)",
            f"return {CROSS_ENTROPY} → return nn.CrossEntropyLoss(ignore_index=0)("
            "logits.reshape(-1, logits.size(-1)), labels.reshape(-1))",
            f"return {CROSS_ENTROPY} → {LOG_P}\n    return -log_p[labels != 0].mean()",
            f"{CROSS_ENTROPY} → sum(logits[i, j].logsumexp(0) - logits[i, j, labels[i, j]] "
            "for i, j in (labels != 0).nonzero()) / (labels != 0).sum()",
            f"return {CROSS_ENTROPY} → {LOG_P}\n    real = (labels != 0).float()\n"
            "    return -(log_p * real).sum() / real.sum()",
            f"{CROSS_ENTROPY} → F.nll_loss("
            "logits.log_softmax(-1).transpose(1, 2), labels, ignore_index=0)",
            "target_ids[:, :-1] → target_ids[:, : target_ids.size(1) - 1]",
            "target_ids[:, 1:] → target_ids[:, 1:].clone(); labels[labels == 0] = -100 && , ignore_index=0 →",
        ],
        wrong={
            "=0) → =2)": "never learns to stop",
            "model(source_ids, reads) → model(reads, reads)": "first argument is the source",
            ", ignore_index=0 →": "padding",
            "target_ids[:, :-1], target_ids[:, 1:] → target_ids, target_ids": "has to predict",
            "[:, :-1], target_ids[:, 1:] → [:, 1:], target_ids[:, 1:]": "has to predict",
            "[:, :-1], target_ids[:, 1:] → [:, 1:], target_ids[:, :-1]": "to say the one before it",
            "[:, :-1], target_ids[:, 1:] → [:, :-1], target_ids[:, :-1]": "to say the token that it reads",
            "logits.transpose → logits.softmax(-1).transpose": "wants logits",
            "ignore_index=0) → ignore_index=0).item()": "a single number",
            "ignore_index=0) → ignore_index=0, reduction='none')": "a single number",
            f"return {CROSS_ENTROPY} → {LOG_P}\n    return -(log_p * (labels != 0)).mean()": "mean",
            f"return {CROSS_ENTROPY} → {LOG_P}\n    return log_p[labels != 0].mean()": "is negative",
            "logits.transpose(1, 2) → logits": "a vocabulary of 20",
            f"{CROSS_ENTROPY} → F.cross_entropy(logits.transpose(1, 2).reshape(-1, logits.size(-1)), "
            "labels.reshape(-1), ignore_index=0)": "joins logits of several positions",
            "logits.transpose(1, 2) → logits.reshape(len(logits), logits.size(2), -1)": "joins logits of several",
            f"{CROSS_ENTROPY} → F.cross_entropy("
            "logits.transpose(0, 1).flatten(0, 1), labels.flatten(), ignore_index=0)": "at each other's positions",
            f"{CROSS_ENTROPY} → F.mse_loss("
            "logits, F.one_hot(labels, logits.size(-1)).float())": "at what becomes of the logits",
            f"{CROSS_ENTROPY} → F.nll_loss("
            "logits.transpose(1, 2), labels, ignore_index=0)": "F.nll_loss wants log_softmax",
            "logits = → with torch.no_grad():\n        logits =": "has no gradient",
            "reads) → reads).detach()": "has no gradient",
            "target_ids[:, 1:] → target_ids[:, 1:]; labels[labels == 0] = -100 && , ignore_index=0 →": "change a clone",
            "ignore_index=0) → ignore_index=0, reduction='sum')": "is a sum over the labels",
        },
    ),
}  # fmt: skip

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks) | checks_of(probe_checks), ANSWERS
)
