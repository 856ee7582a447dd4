// A model and its tokenizer together: text in, text out, and what happens between.

class TextTooLongError extends RangeError {
  name = "TextTooLongError";
}

const LARGEST_WIDTH = 1000; // of a beam

class Translator {
  constructor(model, tokenizer) {
    if (model.config.vocabulary_size !== tokenizer.size) {
      const got = `${model.config.vocabulary_size} and ${tokenizer.size}`;
      throw new RangeError(`model and tokenizer must have as many tokens, got ${got}`);
    }
    Object.assign(this, { model, tokenizer, switches: switchesOf(model) });
  }

  // A text is read as training texts are written, since the model has not learned others: single
  // spaces, one in capitals in lower case, curly quotes, primes and long dashes plain.
  sourceIds(text) {
    const plain = text.replace(NOT_PLAIN, (sign) => PLAIN[sign] ?? "").normalize("NFKC");
    const lower = isUpper(plain) ? plain.toLowerCase() : plain;
    const ids = this.tokenizer.encode(lower.replace(SPACE, " ").replace(/^ | $/g, ""));
    const room = this.model.config.max_length;
    if (ids.length > room)
      throw new TextTooLongError(`text must have at most ${room} tokens, got ${ids.length}`);
    return ids;
  }

  // Yields every step, returns the result: client.js tells what they hold.
  *translate(text, options = {}) {
    const { tokenizer } = this, sourceIds = this.sourceIds(text);
    const source = { sourceIds, sourceTokens: tokenizer.tokens(sourceIds) };
    if (sourceIds.length === 0)
      return { ...source, text: "", targetIds: [], targetTokens: [], finished: true,
        hypotheses: [] };
    const { width = 1, temperature, candidates = 0 } = options;
    const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32);
    if (!(Number.isInteger(width) && 0 < width && width <= LARGEST_WIDTH))
      throw new RangeError(`width must be from 1 to ${LARGEST_WIDTH}, got ${width}`);
    const targets = this.targets(sourceIds, { endLoops: true, ...options });
    if (temperature === undefined && width > 1)
      return { ...source, ...this.written(yield* this.branches(targets, options)) };
    const writing = temperature === undefined ? greedySearch(targets)
      : sample(targets, { ...options, seed });
    let next;
    while (!(next = writing.next()).done) {
      const { step, id, logits } = next.value, ids = targets.written[0].slice(1);
      yield { step, id, token: tokenizer.names[id], ids, text: tokenizer.decode(ids),
        candidates: this.likeliest(logits, { ...options, count: candidates }) };
    }
    const result = { ...source, ...this.written([next.value]) };
    return temperature === undefined ? result : { ...result, seed };
  }

  targets(sourceIds, { begin = [], endLoops = false, ...options }) {
    const given = { begin: this.tokenizer.checked(begin), endLoops };
    return new Targets(this.model, sourceIds, { ...given, watch: this.watch(options) });
  }

  *branches(targets, options) {
    const search = beamSearch(targets, options);
    let next;
    while (!(next = search.next()).done) {
      const { step, branches } = next.value;
      yield { step, branches: branches.map((branch) =>
        ({ ...branch, token: this.tokenizer.names[branch.id] })) };
    }
    return next.value;
  }

  written(hypotheses) {
    const { tokenizer } = this;
    const told = hypotheses.map((hypothesis) => ({ ...hypothesis,
      tokens: tokenizer.tokens(hypothesis.ids), text: tokenizer.decode(hypothesis.ids) }));
    const [{ text, ids, tokens, finished, logProbability }] = told;
    return { text, targetIds: ids, targetTokens: tokens, finished, logProbability,
      hypotheses: told };
  }

  // The likeliest next tokens after the ids of begin.
  candidates(text, { begin = [], count = 10, ...options } = {}) {
    const sourceIds = this.sourceIds(text);
    if (sourceIds.length === 0) return { candidates: [] };
    const targets = this.targets(sourceIds, { begin, ...options });
    return { candidates: this.likeliest(targets.nextLogits()[0], { ...options, count }) };
  }

  likeliest(logits, { count, ...settings }) {
    if (count === 0) return [];
    const probabilities = candidateProbabilities(logits, settings);
    return largest(logits, count).map((id) => ({ id, token: this.tokenizer.names[id],
      logit: logits[id], probability: probabilities[id] }));
  }

  // The tokens whose rows of the embedding table point most in the direction of this token's row.
  neighbors(id, { count = 8, side = "source" } = {}) {
    const { data, shape: [tokens, width] } = this.model[`${side}_embedding`].table;
    const [own] = this.tokenizer.checked([id]), cosines = new Float64Array(tokens);
    const product = (a, b) => {
      let sum = 0;
      for (let i = 0; i < width; i++) sum += data[a * width + i] * data[b * width + i];
      return sum;
    };
    const square = product(own, own);
    for (let other = 0; other < tokens; other++)
      cosines[other] = product(own, other) / Math.sqrt(square * product(other, other));
    cosines[own] = -Infinity;
    return { neighbors: largest(cosines, count).map((other) => ({ id: other,
      token: this.tokenizer.names[other], cosine: cosines[other] })) };
  }

  // One whole pass: every position of the target at once, and every value that is asked for.
  look(text, { target, values = null, ...options } = {}) {
    const { model, tokenizer } = this, sourceIds = this.sourceIds(text);
    if (sourceIds.length === 0) throw new RangeError("text must not be empty to be looked at");
    const written = target ? tokenizer.checked(target) 
      : lastOf(this.translate(text, options)).targetIds;
    const targetIds = [model.config.start_id, ...written];
    if (targetIds.length > model.config.max_length)
      throw new TextTooLongError(`target must have at most ${model.config.max_length} tokens`);
    const watch = this.watch({ ...options, values });
    const memory = model.encode(sourceIds, watch);
    const decoded = model.decode([targetIds], memory, model.newCache(1), watch);
    if (watch.wants("logits")) model.project(decoded, watch);
    return { sourceIds, sourceTokens: tokenizer.tokens(sourceIds),
      targetIds, targetTokens: tokenizer.tokens(targetIds),
      values: Object.fromEntries(watch.kept) };
  }

  watch({ values = [], patches, off = [] }) {
    for (const name of off)
      if (!this.switches.includes(name))
        throw new RangeError(`off must name switches, got ${name}`);
    return new Watch({ values, patches, off });
  }
}

function loadTranslator({ weights, tokenizer }) {
  return new Translator(new Transformer(readWeights(weights)), readTokenizer(tokenizer));
}

function lastOf(generator) {
  for (;;) {
    const { done, value } = generator.next();
    if (done) return value;
  }
}

// White space and capitals as Python's str.split and str.isupper understand them.
const SPACE = /[\p{White_Space}\x1c-\x1f]+/gu;
const PLAIN = {}; // as PLAIN in transformer_edu/generation/translator.py
for (const sign of "‘’‚‛′ʻʼ´`‹›") PLAIN[sign] = "'";
for (const sign of "“”„«»″") PLAIN[sign] = '"';
for (const sign of "‐‑‒–—―−") PLAIN[sign] = "-";
const UNSEEN = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff";
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join("")}${UNSEEN}]`, "g");
const isUpper = (text) => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
