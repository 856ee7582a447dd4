"""Lesson 09: right answers of many kinds are accepted, and each mistake is named."""

import pytest
import torch
import torch.nn.functional as F

from tests.exercise_answers import KNOWN, PARTS, Answers, checks_of, told_apart
from transformer_course.transformer import checks, trained_model_checks, training_loop_checks
from transformer_edu.data.batches import make_batch
from transformer_edu.data.toy_tasks import number_words_task
from transformer_edu.model.special_ids import END_ID

pytestmark = pytest.mark.slow  # a check-up for every answer

TRANSFORMER = """
class Transformer(nn.Module):
    def __init__(self, vocabulary_size, d_model, num_heads, num_layers, d_ff, dropout=0.1):
        super().__init__()
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.xavier_uniform_(weight)
        self.source_embedding = TokenEmbedding(vocabulary_size, d_model)
        self.target_embedding = self.source_embedding
        self.positions = PositionalEncoding(d_model)
        self.embedding_dropout = nn.Dropout(dropout)
        self.output_projection = nn.Linear(d_model, vocabulary_size)
        self.output_projection.weight = self.source_embedding.table.weight

    def source_mask(self, source_ids):
        return (source_ids != 0)[:, None, None, :]

    def embed(self, token_ids):
        return self.embedding_dropout(self.positions(self.source_embedding(token_ids)))

    def encode(self, source_ids, source_mask):
        return self.encoder(self.embed(source_ids), source_mask)

    def decode(self, target_ids, memory, source_mask):
        n = target_ids.size(1)
        past = torch.ones(n, n, dtype=torch.bool, device=target_ids.device).tril()
        target_mask = self.source_mask(target_ids) & past
        return self.decoder(self.embed(target_ids), memory, target_mask, source_mask)

    def project(self, decoded):
        return self.output_projection(decoded)

    def forward(self, source_ids, target_ids):
        source_mask = self.source_mask(source_ids)
        memory = self.encode(source_ids, source_mask)
        return self.project(self.decode(target_ids, memory, source_mask))
"""
EMBED = "self.embedding_dropout(self.positions(self.source_embedding(token_ids)))"
START = """for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.xavier_uniform_(weight)"""
PAST = "past = torch.ones(n, n, dtype=torch.bool, device=target_ids.device).tril()"
MASK = "target_mask = self.source_mask(target_ids) & past"
PADDING = "(source_ids != 0)[:, None, None, :]"
TIE = "self.output_projection.weight = self.source_embedding.table.weight"
MEMORY = "memory = self.encode(source_ids, source_mask)"
DROP = "self.embedding_dropout = nn.Dropout(dropout)"
LEARN = """
def learn(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for batch in batches:
        logits = model(batch.source_ids, batch.decoder_input_ids)
        loss = F.cross_entropy(logits.transpose(1, 2), batch.label_ids, ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
"""
LOSS = "F.cross_entropy(logits.transpose(1, 2), batch.label_ids, ignore_index=0)"
LEARNED = """
class LearnedPositions(nn.Module):
    def __init__(self, d_model, max_length=32):
        super().__init__()
        self.table = nn.Embedding(max_length, d_model)

    def forward(self, x):
        return x + self.table.weight[: x.size(1)]


answer = measured(LearnedPositions)
"""
ROWS = "nn.Embedding(max_length, d_model)"
SUM = "x + self.table.weight[: x.size(1)]"
TASK = number_words_task(train_size=32_000)
PAIRS = [*TASK.train, *TASK.validation, *TASK.test]
SHORT = sorted(pair for pair in PAIRS if len(pair[0]) <= 2)
LONG = [pair for pair in TASK.validation if len(pair[0]) > 2]
GERMAN = {tuple(source): [*target, END_ID] for source, target in SHORT + LONG}


class Knows(PARTS["Transformer"]):
    """Translates the numbers of exercises 9.3 and 9.4 without having learned them."""

    def __init__(self, positions, wrong=(), layers=2):
        super().__init__(len(TASK.vocabulary), 48, 4, layers, 192)
        self.positions, self.wrong = positions, {tuple(source) for source, _ in wrong}

    def encode(self, source_ids, source_mask):
        return source_ids

    def decode(self, target_ids, memory, source_mask):
        keys = [tuple(row[row != 0].tolist()) for row in memory]
        rows = [[] if key in self.wrong else GERMAN[key] for key in keys]
        ids = [[*row, *[END_ID] * 20][: target_ids.size(1)] for row in rows]
        return F.one_hot(torch.tensor(ids), len(TASK.vocabulary)).float()

    def project(self, decoded):
        return decoded


def measured(positions, told=1.0):
    """An answer to exercise 9.4 around this class."""
    kinds = {"sinusoids": PARTS["PositionalEncoding"](48), "learned": positions(48)}
    return positions, {kind: [(Knows(it), told) for _ in range(3)] for kind, it in kinds.items()}


def knows(wrong=(), layers=2):
    """A model for exercise 9.3 that translates some of its pairs wrong."""
    return Knows(PARTS["PositionalEncoding"](48), wrong, layers)


def reads(more, least=1):
    """Batches of the training, with other pairs."""
    pairs = [pair for pair in TASK.train if len(pair[0]) >= least] + more
    return [make_batch(pairs[start : start + 640]) for start in range(0, len(pairs), 640)]


LEARNED_SHORT = [pair for pair in TASK.train if len(pair[0]) <= 2]
PLAIN, MORE = reads([]), reads(LEARNED_SHORT * 20)
KNOWN |= {"measured": measured, "knows": knows, "SHORT": SHORT, "LONG": LONG, "PARTS": PARTS}
KNOWN |= {
    "reads": reads,
    "MORE": MORE,
    "PLAIN": PLAIN,
    "LEARNED_SHORT": LEARNED_SHORT,
    "TASK": TASK,
}
ANSWERS = {
    "9.1": Answers(
        TRANSFORMER,
        right=[
            "self.encoder(self.embed → self.encoder.forward(self.embed && self.decoder(self.embed → self.decoder.forward(self.embed",
            f"{PADDING} → source_ids.ne(0).unsqueeze(1).unsqueeze(2)",
            f"{PADDING} → (source_ids > 0).view(source_ids.size(0), 1, 1, -1)",
            f"{EMBED} → self.embedding_dropout(self.positions(self.target_embedding(token_ids)))",
            f"return {EMBED} → x = self.source_embedding(token_ids); x = self.positions(x); return self.embedding_dropout(x)",
            f"{EMBED} → F.dropout(self.positions(self.source_embedding(token_ids)), self.embedding_dropout.p, self.training)",
            f"{PAST} → past = torch.tril(torch.ones((n, n), device=target_ids.device)).bool()",
            f"{PAST} → past = ~torch.triu(torch.ones(n, n, dtype=torch.bool, device=target_ids.device), diagonal=1)",
            f"{PAST} → past = torch.arange(n, device=target_ids.device) <= torch.arange(n, device=target_ids.device)[:, None]",
            f"{MASK} → target_mask = torch.logical_and(self.source_mask(target_ids), past)",
            f"{MASK} → target_mask = (target_ids != 0)[:, None, None, :] & past[None, None]",
            f"{MASK} → target_mask = (target_ids != 0).unsqueeze(1).unsqueeze(1) * past",
            f"{TIE} → self.output_projection.weight = self.target_embedding.table.weight",
            f"{TIE} → del self.output_projection.weight; self.output_projection.weight = self.source_embedding.table.weight",
            f"{START} → for part in (self.encoder, self.decoder):\n            for weight in part.parameters():\n                if weight.dim() > 1:\n                    nn.init.xavier_uniform_(weight)",
            f"{START} → for module in self.modules():\n            if isinstance(module, nn.Linear):\n                nn.init.xavier_uniform_(module.weight)",
            f"{START} → for name, weight in self.named_parameters():\n            if weight.ndim == 2:\n                torch.nn.init.xavier_uniform_(weight.data)",
            f"{START} → [nn.init.xavier_uniform_(w) for w in self.parameters() if w.dim() == 2]",
            f"{START} → self.apply(lambda m: nn.init.xavier_uniform_(m.weight) if isinstance(m, nn.Linear) else None)",
            "return self.project(self.decode(target_ids, memory, source_mask)) → decoded = self.decode(target_ids, memory, source_mask=source_mask); return self.project(decoded)",
            f"{MEMORY} → memory = self.encode(source_ids, source_mask=source_mask)",
            "return self.output_projection(decoded) → return F.linear(decoded, self.source_embedding.table.weight, self.output_projection.bias)",
            "self.decoder(self.embed(target_ids), memory, target_mask, source_mask) → self.decoder(self.embed(target_ids), memory, target_mask=target_mask, source_mask=source_mask)",
            "Encoder(num_layers, d_model, num_heads, d_ff, dropout) → Encoder(num_layers, *sizes) && Decoder(num_layers, d_model, num_heads, d_ff, dropout) → Decoder(num_layers, *sizes) && self.encoder = E → sizes = (d_model, num_heads, d_ff, dropout); self.encoder = E",
            "self.source_embedding = TokenEmbedding(vocabulary_size, d_model)\n        self.target_embedding = self.source_embedding → self.source_embedding = self.target_embedding = TokenEmbedding(vocabulary_size, d_model)",
            f"{MASK} → target_mask = past",
            "source_ids, source_mask → ids, source_mask && embed(source_ids) → embed(ids) && self.encode(ids, source → self.encode(source_ids, source && decoded → y",
        ],
        wrong={
            f"{START} → {START}\n            else:\n                nn.init.zeros_(weight)": "has one axis and does not keep its start",
            f"{START} → {START}\n            else:\n                nn.init.normal_(weight, std=0.02)": "has one axis and does not keep its start",
            f"{EMBED} → self.embedding_dropout((x := self.source_embedding(token_ids)) + self.positions(x))": "The tokens count twice",
            f"{EMBED} → self.positions(self.source_embedding(token_ids))": "In training, embed does not apply",
            f"{EMBED} → self.positions(self.embedding_dropout(self.source_embedding(token_ids)))": "embed drops parts of the tokens, and the",
            f"{EMBED} → self.source_embedding(token_ids)": "In training, embed does not apply",
            f"{EMBED} → F.dropout(self.positions(self.source_embedding(token_ids)), self.embedding_dropout.p)": "embed drops numbers also after model.eval().",
            f"{EMBED} → self.embedding_dropout(self.source_embedding(self.positions(token_ids)))": "Python stops at `return self.embedding_dropou",
            "memory, source_mask):\n        n → memory):\n        n": "decode has no argument of the name source_mask",
            "self.decoder(self.embed(target_ids) → self.decoder(self.positions(self.source_embedding(target_ids))": "The decoder gets what was not dropped",
            "self.encoder(self.embed(source_ids) → self.encoder(self.embedding_dropout(self.embed(source_ids))": "drops the sums of embed, each once",
            "return self.output_projection(decoded) → return self.embedding_dropout(self.output_projection(decoded))": "drops the sums of embed, each once",
            "Encoder(num_layers, d_model, num_heads, d_ff, dropout) → Encoder(d_model, num_heads, d_ff, dropout)": "Is it a rate",
            f"{PAST} → past = torch.ones(n, n, dtype=torch.bool).tril()": "It runs on the CPU only",
            f"{DROP} → self.embedding_dropout = nn.Dropout(0.1)": "embedding_dropout must get the argument",
            f"{DROP} → self.embedding_dropout = nn.Dropout()": "embedding_dropout must get the argument",
            f"        {DROP}\n → ": "__init__ must set self.embedding_dropout to",
            "d_ff, dropout) → d_ff)": "dropout does not arrive in the encoder:",
            "Decoder(num_layers, d_model, num_heads, d_ff, dropout) → Decoder(num_layers, d_model, num_heads, d_ff)": "dropout does not arrive in the decoder:",
            "d_ff, dropout) → d_ff, 0.1)": "dropout does not arrive in the encoder:",
            f"        {TIE}\n → ": "output_projection has a table of its own;",
            f"{TIE} → self.output_projection.weight = nn.Parameter(self.source_embedding.table.weight.clone())": "output_projection holds a copy of the",
            f"{TIE} → self.output_projection.weight.data = self.source_embedding.table.weight.data.clone()": "output_projection holds a copy of the",
            "self.target_embedding = self.source_embedding → self.target_embedding = TokenEmbedding(vocabulary_size, d_model) && target_ids), memory, t → target_ids, True), memory, t && def embed(self, token_ids → def embed(self, token_ids, target=False && self.source_embedding(token_ids) → (self.target_embedding if target else self.source_embedding)(token_ids)": "target_embedding has a table of its own;",
            "nn.Linear(d_model, vocabulary_size) → nn.Linear(d_model, vocabulary_size, bias=False)": "Your model lacks output_projection.bias:",
            f"        {START}\n → ": "layers.0.self_attention.query_projection.wei",
            f"        {START}\n →  && {TIE} → {TIE}\n        {START}": "The table no longer starts with a standard",
            "nn.init.xavier_uniform_ → nn.init.ones_": "layers.0.self_attention.query_projection.wei",
            "nn.init.xavier_uniform_ → nn.init.normal_": "layers.0.self_attention.query_projection.wei",
            f"{MASK} → target_mask = self.source_mask(target_ids)": "The target sees its own future: its mask",
            "source_ids, source_mask → ids, mask && embed(source_ids) → embed(ids) && encoder(self.embed(ids), source_mask) → encoder(self.embed(ids), mask) && self.encode(ids, mask) → self.encode(source_ids, source_mask) && decoded → y": "encode has no argument of the name source_mask",
            f"{MASK} → target_mask = self.source_mask(target_ids) | past": "The target sees its own future: its mask",
            f"{MASK} → target_mask = (target_ids != 0)[:, None, :] & past": "it has no axis for the heads",
            f"{MASK} → target_mask = (target_ids != 0) & past": "The check has batch 2, source 6, target 4",
            "self.source_embedding(token_ids) → self.source_embedding(token_ids) * self.source_embedding.table.embedding_dim**0.5": "multiplied by √d_model twice",
            "return self.output_projection(decoded) → return decoded @ self.source_embedding.table.weight.T": "The bias of output_projection is missing",
            "return self.output_projection(decoded) → return self.output_projection(decoded) + self.output_projection.bias": "The bias of output_projection is added twice",
            f"{TIE} → self.output_projection.weight = self.source_embedding.table.weight.T": "neither a layer, nor a tensor",
            f"{TIE} → self.output_projection.weight = nn.Parameter(self.source_embedding.table.weight.T)": "output_projection.weight has the sizes (12, 23)",
            "nn.Linear(d_model, vocabulary_size) → nn.Linear(vocabulary_size, d_model)": "output_projection has the sizes (12, 23)",
            "TokenEmbedding(vocabulary_size, d_model) → TokenEmbedding(d_model, vocabulary_size)": "The table of source_embedding has the sizes (12, 23)",
            "nn.Linear(d_model, vocabulary_size) → nn.Sequential(nn.Linear(d_model, vocabulary_size)) && output_projection.weight → output_projection[0].weight": "output_projection an nn.Linear",
            f"{MEMORY} → memory = self.embed(source_ids)": "attends to the source's embeddings: encode them first.",
            "self.encoder(self.embed(source_ids), source_mask) → self.encoder(self.source_embedding(source_ids), source_mask)": "Does the encoder get what embed returns",
            ".tril() → .triu()": "Is its target mask .tril() of ones",
            ".tril() → .tril(-1)": "Is its target mask .tril() of ones",
            ".tril() → .tril(1)": "The shapes are right, but the package",
            f"{PADDING} → (source_ids == 0)[:, None, None, :]": "source_mask is boolean, and True where a",
            f"{PADDING} → (source_ids != 0)[:, None, :, None]": "The shape must be (batch, 1, 1, source) =",
            f"{PADDING} → (source_ids != 0)": "The shape must be (batch, 1, 1, source) =",
            f"{PADDING} → (source_ids != 1)[:, None, None, :]": "source_mask is not True for every id but 0.",
            f"{PADDING} → torch.ones_like(source_ids).bool()[:, None, None, :]": "Neither stack gets a mask for the source:",
            "memory, target_mask, source_mask → memory, source_mask, target_mask": "Python stops at `return self.decoder(self.emb",
            "memory, target_mask, source_mask → memory, target_mask": "Cross-attention sees padding",
            "self.encoder(self.embed(source_ids), source_mask) → self.encoder(self.embed(source_ids))": "The encoder sees the padding",
            "return self.output_projection(decoded) → return self.output_projection(decoded).softmax(-1)": "The model returns logits; the softmax",
            "return self.output_projection(decoded) → return self.output_projection(decoded).log_softmax(-1)": "The model returns logits; the log-softmax",
            "return self.output_projection(decoded) → return decoded": "The shape must be (batch, target,",
            "return self.project(self.decode(target_ids, memory, source_mask)) → return self.decode(target_ids, memory, source_mask)": "The shape must be (batch, target,",
            "self.decode(target_ids, memory, source_mask)) → self.decode(source_ids, memory, source_mask))": "The shape must be (batch, target,",
            "memory = self.encode(source_ids, → memory = self.encode(target_ids,": "Python stops at `return self.encoder(self.emb",
            "encoder → enc && decoder → dec": "__init__ must set self.encoder to the",
            "output_projection → head": "__init__ must set self.output_projection to",
            "num_heads, num_layers → num_layers, num_heads": "The encoder has 3 layers; num_layers is 2.",
            "Encoder(num_layers, d_model, num_heads → Encoder(d_model, num_heads, num_layers": "The encoder has 12 layers; num_layers is 2.",
            "Encoder(num_layers, d_model → Encoder(num_heads, d_model": "The encoder has 3 layers; num_layers is 2.",
            "return self.project(self.decode → self.project(self.decode": "Your function returns nothing",
            "def project → def logits && self.project → self.logits": "The method project is missing: generation",
        },
    ),
    "9.2": Answers(
        LEARN,
        right=[
            "optimizer.zero_grad() → model.zero_grad()",
            "        optimizer.zero_grad()\n →  && optimizer.step() → optimizer.step(); optimizer.zero_grad()",
            f"{LOSS} → F.cross_entropy(logits.flatten(0, 1), batch.label_ids.flatten(), ignore_index=0)",
            f"{LOSS} → F.cross_entropy(logits[batch.label_ids != 0], batch.label_ids[batch.label_ids != 0])",
            f"{LOSS} → nn.CrossEntropyLoss(ignore_index=0)(logits.mT, batch.label_ids)",
            f"{LOSS} → F.nll_loss(logits.log_softmax(-1).permute(0, 2, 1), batch.label_ids, ignore_index=0)",
            "torch.optim.Adam(model.parameters(), lr=1e-3) → torch.optim.Adam(params=model.parameters())",
            "losses.append(loss.item()) → losses.append(float(loss))",
            "losses.append(loss.item()) → losses += [loss.detach().item()]",
            "losses.append(loss.item()) → losses.append(loss.item()); nn.utils.clip_grad_norm_(model.parameters(), 1e9)",
            "losses = [] → losses = []; model.train()",
            "for batch in batches → for i, batch in enumerate(batches)",
            "    return losses → \n    model.eval()\n    return losses",
        ],
        wrong={
            "for batch in batches: → for i in range(len(batches)):\n        batch = batches[i]": "a progress bar, which has no index",
            "ignore_index=0) → ignore_index=0, reduction='sum')": "Your loss is a sum",
            "ignore_index=0) → ignore_index=0, reduction='none').mean()": "counts padding in its mean",
            "        optimizer.zero_grad()\n → ": "Gradients of all batches add up: call",
            "        loss.backward()\n → ": "The model does not learn: its weights are",
            "        optimizer.step()\n → ": "The model does not learn: its weights are",
            "batch.label_ids, → batch.decoder_input_ids,": "The labels are the decoder's input: compare",
            ", ignore_index=0 → ": "The loss counts padding: give cross_entropy",
            "batch.decoder_input_ids) → batch.label_ids)": "The decoder reads its own answer: give the",
            "batch.source_ids, batch.decoder_input_ids → batch.decoder_input_ids, batch.source_ids": "Already the first loss differs. Is it",
            "batch.source_ids, batch.decoder_input_ids → batch.source_ids, batch.source_ids": "Already the first loss differs. Is it",
            "logits.transpose(1, 2) → logits": "takes logits (batch, vocabulary, position)",
            "lr=1e-3 → lr=1": "The first loss is right, later ones are",
            "lr=1e-3 → lr=-1e-3": "Python stops at `optimizer = torch.optim.Adam",
            "Adam → SGD": "That is SGD: use torch.optim.Adam with",
            "losses = [] → losses = []; model.eval()": "trains in evaluation mode: model.eval()",
            "losses.append(loss.item()) → losses.append(loss.item()); model.eval()": "trains in evaluation mode",
            "logits.transpose(1, 2) → logits.softmax(-1).transpose(1, 2)": "cross_entropy takes logits and applies a",
            "losses.append(loss.item()) → losses.append(loss)": "Keep loss.item(), a plain number: a tensor",
            "losses.append(loss.item()) → losses.append(loss.detach())": "a plain number; yours are tensors.",
            "    return losses → ": "Your function returns nothing",
            "return losses → return losses[-1]": "one for each of 6 batches; yours is float",
            "losses.append(loss.item()) → losses.append(loss.item)": "The losses are numbers",
            "losses.append(loss.item()) → losses.append(loss.item() / 64)": "at the number that you keep",
            "loss.backward() → loss.backward(); loss.backward()": "runs twice through the same computation",
            "logits.transpose(1, 2), b → logits.detach().transpose(1, 2), b": "The loss has no gradient",
            "        losses.append(loss.item())\n    return → \n        losses.append(loss.item())\n        return": "Return a list of losses, one for each of",
            "    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n →  && for batch in batches: → for batch in batches:\n        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)": "You make a new optimizer for every batch:",
            "        optimizer.zero_grad()\n        loss.backward()\n →         loss.backward()\n        optimizer.zero_grad()\n": "The model does not learn: its weights are",
            "ignore_index=0 → ignore_index=1": "The loss counts padding: give cross_entropy",
            "return losses → return [sum(losses) / len(losses)]": "Return a list of losses, one for each of",
            "for batch in batches: → for batch in list(batches)[:1]:": "Return a list of losses, one for each of",
        },
    ),
    "9.3": Answers(
        "knows(), MORE",
        right=[
            "[knows().train(), tuple(MORE)]",
            "knows(wrong=SHORT[:4]), MORE",
            "knows(wrong=LONG[:50]), PLAIN + reads(LEARNED_SHORT * 3, least=99)",
            "knows(wrong=SHORT[:1] + LONG[:20]), reads(LEARNED_SHORT)",
            "nn.ModuleList([knows()])[0], reads(LEARNED_SHORT * 30, least=5)",
        ],
        wrong={
            "knows(wrong=SHORT), MORE": "How many of the 32,000 pairs of task.train",
            "knows(wrong=SHORT[:9]), MORE": "93% of the short numbers and 100% of the test are right",
            "knows(wrong=[pair for pair in SHORT if len(pair[0]) == 1]), PLAIN": "80% of the short numbers",
            "knows(wrong=[pair for pair in SHORT if len(pair[0]) == 2]), PLAIN": "How many of the 32,000",
            "knows(wrong=LONG), MORE": "Did the model read enough of the long",
            "knows(wrong=LONG[:51]), MORE": "Did the model read enough of the long",
            "knows(wrong=SHORT + LONG), reads(LEARNED_SHORT, least=99)": "longer numbers, task.train has 31,866",
            "knows(wrong=SHORT + LONG), MORE": "Was it trained to the end?",
            "knows(), PLAIN * 2": "may be luck: 0.42% of what the model reads is short",
            "knows(), []": "may be luck: 0.00%",
            "knows(), reads(SHORT * 20)": "numbers of the test, task.validation: 1.",
            "knows(), reads(TASK.validation)": "task.validation: 500.",
            "knows(), iter(MORE)": "The second is a list of batches; yours holds list_iterator.",
            "knows(), TASK.train": "The second is a list of batches; yours holds tuple.",
            "knows(layers=3), MORE": "yours has the shape (48, 48), and the lesson's None",
            "PARTS['Transformer'](64, 64, 4, 2, 192), MORE": "The model must have the lesson's sizes.",
            "knows()": "The answer is a pair",
            "PARTS['Transformer'], MORE": "The first is a trained Transformer; yours is type.",
            "len(SHORT), MORE": "The first is a trained Transformer; yours is int.",
            "nn.Linear(2, 3), MORE": "The first is a trained Transformer; yours is Linear.",
        },
    ),
    "9.4": Answers(
        LEARNED,
        right=[
            f"{ROWS} → nn.Parameter(torch.randn(max_length, d_model)) && self.table.weight → self.table",
            f"{ROWS} → nn.ParameterList(torch.randn(max_length, d_model).unbind()) && {SUM} → x + torch.stack([*self.table[: x.size(1)]])",
            f"{SUM} → x + self.table(torch.arange(x.size(1), device=x.device))",
            f"{ROWS} → nn.Parameter(torch.zeros(max_length, d_model)) && self.table.weight → self.table",
            f"{ROWS} → nn.Parameter(torch.zeros(1, max_length, d_model)) && self.table.weight[ → self.table[:, ",
            "self.table → self.rows",
            f"{ROWS} → {ROWS}; nn.init.normal_(self.table.weight, std=0.02)",
            f"{ROWS} → {ROWS}; nn.init.zeros_(self.table.weight)",
            f"{SUM} → F.embedding(torch.arange(x.size(1), device=x.device), self.table.weight) + x",
            f"{SUM} → x + self.table.weight[: x.size(1)].unsqueeze(0).expand_as(x)",
        ],
        wrong={
            "measured(LearnedPositions) → LearnedPositions, ...": "LearnedPositions is right. Now train both",
            f"{SUM} → self.table.weight[: x.size(1)].expand_as(x)": "Add the rows to x: forward returns x +",
            f"{SUM} → x": "Nothing is added to x.",
            "measured(LearnedPositions) → measured(LearnedPositions, 0.98)": "sinusoids: you give 0.98; on 200 numbers of",
            "measured(LearnedPositions) → LearnedPositions": "The answer is a pair: the class, and the",
            "measured(LearnedPositions) → (LearnedPositions, {'sinusoids': [1, 1, 1], 'learned': [1, 1, 1]})": "sinusoids: give pairs (model, fraction), so",
            "measured(LearnedPositions) → (LearnedPositions, {kind: [(told, it) for it, told in rows] for kind, rows in measured(LearnedPositions)[1].items()})": "sinusoids: give pairs (model, fraction), so",
            "measured(LearnedPositions) → (LearnedPositions, {'learned': [1, 1, 1]})": "The dictionary needs two entries:",
            "measured(LearnedPositions) → (LearnedPositions, {'sinusoids': 1.0, 'learned': 1.0})": "sinusoids: give a list of at least 3 seeds.",
            "measured(LearnedPositions) → (LearnedPositions, dict(zip(('learned', 'sinusoids'), measured(LearnedPositions)[1].values())))": "learned: a model has PositionalEncoding.",
            "measured(LearnedPositions) → (LearnedPositions, {kind: rows[:1] * 3 for kind, rows in measured(LearnedPositions)[1].items()})": "Two entries are the same model: train a new",
            f"{SUM} → x + self.table.weight": "Python stops at `return x + self.table.weight",
            f"{SUM} → x + self.table.weight[: x.size(0)].unsqueeze(1)": "The rows of the batch get different",
            f"{SUM} → x + self.table.weight[x.size(1)]": "Every position gets the same vector:",
            f"{SUM} → x * self.table.weight[: x.size(1)]": "Nothing is added to x.",
            f"{ROWS} → torch.randn(max_length, d_model) && self.table.weight → self.table": "The positions have no parameters:",
            "self.table = nn.Embedding(max_length, d_model) → self.register_buffer('table', torch.randn(max_length, d_model)) && self.table.weight → self.table": "The positions have no parameters:",
            f"{ROWS} → nn.Embedding(d_model, max_length)": "Python stops at `return x + self.table.weight",
            f"{ROWS} → nn.Embedding(1, d_model) && [: x.size(1)] → [0]": "Every position gets the same vector:",
            f"{SUM} → x + self.table.weight[: x.size(1)].detach()": "The gradient is not that of your output",
            f"{ROWS} → nn.Embedding(max_length, d_model, padding_idx=0) && {SUM} → x + self.table(torch.arange(x.size(1)))": "padding_idx keeps a row from learning",
            f"{ROWS} → nn.Embedding(32, d_model)": "Python stops at `return x + self.table.weight",
            f"return {SUM} → {SUM}": "Your function returns nothing",
            f"{ROWS} → nn.Embedding(8, d_model)": "Python stops at `return x + self.table.weight",
            f"return {SUM} → x += self.table.weight[: x.size(1)]; return x": "Your code changes the tensor that it gets,",
        },
    ),
}

test_a_right_answer_is_correct, test_a_wrong_answer_gets_its_own_hint = told_apart(
    checks_of(checks) | checks_of(training_loop_checks) | checks_of(trained_model_checks), ANSWERS
)
