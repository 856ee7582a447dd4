"""Lesson 11: right repairs of many kinds are accepted, and each mistake is named."""

from tests.course.diagnosis.friends import ADD_AND_NORM, FEED_FORWARD
from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.diagnosis import checks

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
ONE_BY_ONE = f"""
{ADD_AND_NORM}

class RepairedAddAndNorm(FriendsAddAndNorm):
    def norm(self, vector):
        away = vector - vector.mean()
        return self.gain * away / math.sqrt(away.square().mean().item() + 1e-5) + self.bias

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
            ADD_AND_NORM: "Over which axis",
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
            f"{ADDED} → x += self.dropout(sublayer(x)) && {MEAN} → total = x\n        {MEAN}": "change a clone",
            f"{RETURNED} → return away / (spread + 1e-5).sqrt()": "get no gradient",
            f"{RETURNED} → return self.gain * away / (spread + 1e-5).sqrt()": "its gain and its bias",
            f"{MEAN} → away = total": "the mean 0",
        },
    ),
    "11.2": Answers(
        PROBE,
        right=[
            "abs().max().item() → abs().amax()",
            f"{APPENDED} → torch.cat([source_ids, torch.zeros_like(source_ids[:, :3])], dim=1)",
            f"{APPENDED} → torch.cat([source_ids, source_ids.new_zeros(len(source_ids), 3)], 1)",
            f"{LARGEST} → max((after - before).max(), (before - after).max()).item()",
            f"{LARGEST} → (before - after).flatten().norm(p=math.inf).item()",
            "F.pad(source_ids, (0, 3)) → nn.functional.pad(source_ids, (0, 3), value=0)",
            "with torch.no_grad(): → if True: && .item() → .detach().numpy().max()",
        ],
        wrong={
            f"{APPENDED} → F.pad(source_ids, (3, 0))": "so their positions changed",
            f"{APPENDED} → F.pad(source_ids, (0, 3), value=2)": "Padding has the id 0",
            f"{APPENDED} → F.pad(source_ids, (0, 3), value=1)": "Padding has the id 0",
            f"{APPENDED} → source_ids && target_ids)\n    return → "
            "F.pad(target_ids, (0, 3)))[:, :-3]\n    return": "not the target",
            f"{LARGEST} → (after - before).max().item()": "a negative change",
            f"{LARGEST} → (after - before).abs().mean().item()": "mean",
            f"{LARGEST} → (after - before).mean().item()": "mean",
            f"{LARGEST} → (after - before).abs()": "The answer is a number",
            f"{LARGEST} → (after - before).abs()[0, -1].max().item()": "is not the largest",
            f"{LARGEST} → (after - before).abs()[0].max().item()": "is not the largest",
            f"{LARGEST} → (after - before).abs()[-1].max().item()": "is not the largest",
            f"{LARGEST} → (after - before).abs()[:, -1].max().item()": "is not the largest",
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
            f"{DROPPED} → {DROPPED.replace('=self.training', '=True')}": "two calls still differ",
            f"{DROPPED} → {DROPPED.replace('self.training', 'not self.training')}": "two calls",
            f"{DROPPED} → {DROPPED.replace('self.training', 'False')}": "nothing is dropped",
            f"{DROPPED} → dropped = hidden": "nothing is dropped",
            f"{DROPPED} → dropped = F.dropout(hidden, self.training)": "The second argument",
            "self.dropout, training → 0.1, training": "the rate that is given",
            f"{DROPPED} → {BY_HAND.replace(' / (1 - self.dropout)', '')}": "divided by",
            ".relu() →": "narrow(relu(widen(x)))",
            f"{DROPPED} → dropped = nn.Dropout(self.dropout)(hidden)": "Your forward makes a new nn.Dropout",
            f"{DROPPED} → dropped = hidden && return self.narrow(dropped) → "
            f"return {BEHIND}": "Your dropout is behind narrow",
            f"{DROPPED} → dropped = hidden && self.widen(x) → "
            "self.widen(F.dropout(x, self.dropout, self.training))": "is not a number of hidden",
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
            f"return {CROSS_ENTROPY} → {LOG_P}\n    real = (labels != 0).float()\n"
            "    return -(log_p * real).sum() / real.sum()",
            f"{CROSS_ENTROPY} → F.nll_loss("
            "logits.log_softmax(-1).transpose(1, 2), labels, ignore_index=0)",
            "target_ids[:, :-1] → target_ids[:, : target_ids.size(1) - 1]",
        ],
        wrong={
            "=0) → =2)": "never learns to stop",
            ", ignore_index=0 →": "padding",
            "target_ids[:, :-1], target_ids[:, 1:] → target_ids, target_ids": "has to predict",
            "[:, :-1], target_ids[:, 1:] → [:, 1:], target_ids[:, 1:]": "has to predict",
            "[:, :-1], target_ids[:, 1:] → [:, 1:], target_ids[:, :-1]": "end token is not trained",
            "logits.transpose → logits.softmax(-1).transpose": "wants logits",
            "ignore_index=0) → ignore_index=0).item()": "a single number",
            "ignore_index=0) → ignore_index=0, reduction='none')": "a single number",
            f"return {CROSS_ENTROPY} → {LOG_P}\n    return -(log_p * (labels != 0)).mean()": "mean",
            f"return {CROSS_ENTROPY} → {LOG_P}\n    return log_p[labels != 0].mean()": "is negative",
            "logits.transpose(1, 2) → logits": "a vocabulary of 20",
        },
    ),
}  # fmt: skip

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS
)
