"""Lesson 10: right answers of many kinds are accepted, and each mistake is named."""

import math

from tests.exercise_answers import Answers, checks_of, told_apart
from transformer_course.training import checks

STEP = """
def repaired_step(model, batch, optimizer, smoothing=0.0):
    model.train()
    logits = model(batch.source_ids, batch.decoder_input_ids)
    loss = F.cross_entropy(logits.transpose(1, 2), batch.label_ids, ignore_index=0, label_smoothing=smoothing)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
"""
FRIENDS = """
def friends_step(model, batch, optimizer, smoothing=0.0):
    logits = model(batch.source_ids, batch.label_ids)
    probabilities = logits.softmax(dim=-1).transpose(1, 2)
    loss = F.cross_entropy(probabilities, batch.label_ids, label_smoothing=smoothing)
    loss.backward()
    optimizer.step()
    return loss
"""
CROSS_ENTROPY = (
    "F.cross_entropy(logits.transpose(1, 2), batch.label_ids, ignore_index=0, "
    "label_smoothing=smoothing)"
)
CALLS = "optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()"
FLAT = "logits.flatten(0, 1), batch.label_ids.flatten()"
SMOOTHED_BY_HAND = """log_p = logits.log_softmax(dim=-1)
    right = log_p.gather(-1, batch.label_ids.unsqueeze(-1)).squeeze(-1)
    costs = -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    loss = costs[batch.label_ids != 0].mean()"""
CLIP = "loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
RATE = """
def paper_rate(step, d_model, warmup_steps):
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
"""
IN_TWO_CASES = """
def paper_rate(step, d_model, warmup_steps):
    if step < warmup_steps:
        return step / (warmup_steps * math.sqrt(d_model * warmup_steps))
    return 1 / math.sqrt(d_model * step)
"""
PEAK = """
def paper_rate(step, d_model, warmup_steps):
    peak = (d_model * warmup_steps) ** -0.5
    return peak * min(step / warmup_steps, (warmup_steps / step) ** 0.5)
"""
FORMULA = "return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)"
FLOOR = "-(0.9 + 0.1 / 37_000) * math.log(0.9 + 0.1 / 37_000) - 36_999 * 0.1 / 37_000 * math.log(0.1 / 37_000)"
BITS = f"({FLOOR}) / math.log(2)"

ANSWERS = {
    "10.1": Answers(
        STEP,
        right=[
            f"loss.backward() → {CLIP}",
            f"loss.backward() → {CLIP.replace('1.0', '0.1')}",
            f"{CALLS} → loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()",
            "optimizer.zero_grad() → model.zero_grad()",
            f"{CROSS_ENTROPY} → F.cross_entropy({FLAT}, ignore_index=0, label_smoothing=smoothing)",
            f"{CROSS_ENTROPY} → nn.CrossEntropyLoss(ignore_index=0, label_smoothing=smoothing)"
            "(logits.transpose(1, 2), batch.label_ids)",
            f"loss = {CROSS_ENTROPY} → {SMOOTHED_BY_HAND}",
            "return loss → return loss.item()",
            "return loss → return loss.detach()",
        ],
        wrong={
            FRIENDS: "5 mistakes are left",
            "logits.transpose → logits.softmax(dim=-1).transpose": "already has a softmax",
            "batch.decoder_input_ids → batch.label_ids": "reads the labels",
            ", ignore_index=0 →": "includes padding",
            "optimizer.zero_grad() → pass": "previous step are still there",
            "model.train() → model.training = True": "nothing in your step switches dropout on",
            "model.train() → model.eval()": "nothing in your step switches dropout on",
            "    model.train()\n → ": "nothing in your step switches dropout on",
            "    model.train()\n →  && loss.backward() → model.train(); loss.backward()": "comes after them, too late",
            "model.train() → model.train(); optimizer = torch.optim.Adam(model.parameters())": "never takes a step",
            "optimizer.step() → optimizer.step(); optimizer.step()": "2 times as far",
            "label_smoothing=smoothing → label_smoothing=0.7": "the gradients are others",
            "batch.source_ids, → batch.decoder_input_ids,": "The model gets other tensors",
            "label_smoothing=smoothing → label_smoothing=0.1": "wrong with smoothing=0",
            "label_smoothing=smoothing → label_smoothing=0.0": "hand `smoothing` on",
            f"{CALLS} → loss.backward()\n    optimizer.zero_grad()\n    optimizer.step()": "between",
            f"{CALLS} → optimizer.step()\n    optimizer.zero_grad()\n    loss.backward()": "before",
            "    optimizer.step()\n → ": "No weight has changed",
            "loss.backward() → (loss / 2).backward()": "0.5 times as far as they should",
            "ignore_index=0 → ignore_index=0, reduction='sum'": "The loss is a sum",
            "return loss → return 0.0": "Return the loss",
            "return loss → return loss, logits": "The answer is a number; yours is a tuple.",
            "return loss → return": "returns nothing",
            "    model.train()\n →  && ignore_index=0, → ": "2 mistakes are left",
            "batch.source_ids, batch.decoder_input_ids → batch.decoder_input_ids, "
            "batch.source_ids": "takes logits (batch, vocabulary, position)",
            "logits.transpose(1, 2) → logits": "takes logits (batch, vocabulary, position)",
            "batch.decoder_input_ids → batch.decoder_input_ids[:, 1:]": "equally many positions",
        },
    ),
    "10.2": Answers(
        RATE,
        right=[
            IN_TWO_CASES,
            PEAK,
            f"{FORMULA} → return min(step**-0.5, step * warmup_steps**-1.5) / d_model**0.5",
            f"{FORMULA} → return min((d_model * step) ** -0.5, "
            "d_model**-0.5 * step * warmup_steps**-1.5)",
            f"{FORMULA} → return torch.tensor([step**-0.5, step * warmup_steps**-1.5]).min()"
            " / math.sqrt(d_model)",
            f"{FORMULA} → return 1 / math.sqrt(d_model * max(step, warmup_steps**3 / step**2))",
        ],
        wrong={
            f"{FORMULA} → return min(d_model**-0.5 * step**-0.5, step * warmup_steps**-1.5)": "outside of min",
            "min( → max(": "the larger of the two",
            "d_model**-0.5 → d_model**0.5": "Wide models",
            "d_model**-0.5 * → ": "width is missing",
            "-1.5 → -0.5": "must meet",
            "min(step**-0.5 → min(warmup_steps**-0.5": "rises and then stays",
            f"{FORMULA} → return d_model**-0.5 * step**-0.5": "only falls",
            f"{FORMULA} → return d_model**-0.5 * step * warmup_steps**-1.5": "never falls",
            "min(step → min((step + 1)": "look at the fall: from step 10 to 90",
            "step**-0.5, → step**-1,": "The falling line is too low",
            "d_model**-0.5 → 1 / d_model": "are right, their height is not",
            "step * warmup_steps**-1.5) → step / warmup_steps)": "The two lines must meet",
            "step * warmup_steps**-1.5) → (step * warmup_steps) ** -1.5)": "look at the rise: from step 1 to 9",
            f"{FORMULA} → return d_model**-0.5 * min(step**-0.5, step // warmup_steps * warmup_steps**-0.5)": "Yours goes from 0 to 0.",
            "d_model**-0.5 → 512**-0.5": "0.354 times the paper's",
            "warmup_steps**-1.5 → 4000**-1.5": "look at the fall: from step 10 to 90",
        },
    ),
    "10.3": Answers(
        FLOOR,
        right=["1.38", "1.377", "torch.tensor(1.3767)", "1.4", "round(1.3767, 2)"],
        wrong={
            BITS: "in bits",
            f"-({FLOOR})": "the loss is minus that",
            "-math.log(0.9)": "That is the cost of the correct token",
            "-0.9 * math.log(0.9)": "36,999 other tokens add theirs",
            "-math.log(0.9) - 0.1 * math.log(0.1 / 37_000)": "weigh it, too",
            "-0.1 * math.log(0.1 / 37_000)": "correct token's part is missing",
            "math.log(37_000)": "a model that knows nothing",
            str(checks.smoothing_floor(64, 0.1)): "for 64 tokens",
            "0.7": "the floor of section 3",
            str(checks.smoothing_floor(37_000, 0.2)): "2.604 is too large",
            "-0.9 * math.log(0.9) - 0.1 * math.log(0.1)": "All other tokens share ε",
            "0": "must give the correct token probability 1",
            f"({FLOOR}) / 37_000": "That is a mean over the tokens",
            f"({FLOOR}) / math.log(10)": "base 10",
            str(math.exp(1.3767)): "one large probability",
            "'1.38'": "The answer is a number",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks), ANSWERS
)
