// How a target is written, as in transformer_edu/generation: greedy search, beam search, sampling.
// Each is a generator: it yields its steps, and returns its result.

const EXTRA_LENGTH = 50; // tokens that a target may have more than the source (paper §6.1)
const LONGEST_LOOP = 8; // tokens of an n-gram that endLoops watches
const LOOP_LENGTH = 10; // tokens that endLoops allows beyond twice the source

// The targets that are being written for one source: one, or the hypotheses of a beam.
class Targets {
  // begin: ids that are given; the target goes on from there.
  constructor(model, sourceIds, { begin = [], endLoops = false, watch = NOTHING_TO_SEE } = {}) {
    const { start_id, end_id, max_length } = model.config;
    Object.assign(this, { model, endLoops, watch, endId: end_id });
    const longest = endLoops ? 2 * sourceIds.length + LOOP_LENGTH : Infinity;
    this.limit = Math.min(sourceIds.length + EXTRA_LENGTH, longest, max_length);
    if (begin.length >= this.limit || begin.includes(end_id))
      throw new RangeError(`begin must be fewer than ${this.limit} ids without the end`);
    this.written = [[start_id, ...begin]];
    this.memory = model.encode(sourceIds, watch);
    this.cache = model.newCache(1);
  }

  get length() {
    return this.written[0].length - 1;
  }

  // The scores of every token as the next one, an array for each hypothesis.
  nextLogits() {
    const { model, written, watch } = this;
    // Where the future is seen, every new word changes what was computed before.
    if (watch.isOff("causal_mask")) this.cache = model.newCache(written.length);
    const newIds = written.map((ids) => ids.slice(this.cache.length)), count = newIds[0].length;
    const decoded = model.decode(newIds, this.memory, this.cache, watch);
    const newest = stacked(written.map((_, row) =>
      decoded.slice((row + 1) * count - 1, (row + 1) * count)));
    const logits = model.project(newest, watch);
    return written.map((ids, row) => {
      const scores = logits.at(row).data;
      if (this.endLoops) for (const id of loopingTokens(ids)) scores[id] = -Infinity;
      return scores;
    });
  }

  append(ids) {
    this.written.forEach((row, number) => row.push(ids[number]));
  }

  keep(rows) {
    this.written = rows.map((row) => [...this.written[row]]);
    this.cache.keep(rows);
  }
}

// The tokens that would repeat an n-gram three times in a row, as in "go go go".
function loopingTokens(written) {
  const found = [];
  for (let n = 1; n <= Math.min(LONGEST_LOOP, Math.floor((written.length + 1) / 3)); n++) {
    const recent = written.slice(1 - 3 * n); // one token fewer than three n-grams
    if (recent.slice(n).every((id, at) => id === recent[at])) found.push(written.at(-n));
  }
  return found;
}

// The places of the largest numbers, largest first; of equal ones, the first one first.
function largest(numbers, count) {
  if (count >= numbers.length / 8)
    return Array.from(numbers.keys()).sort((a, b) => numbers[b] - numbers[a] || a - b)
      .slice(0, count);
  const places = [];
  for (let place = 0, least = -Infinity; place < numbers.length; place++) {
    if (places.length === count && !(numbers[place] > least)) continue;
    let at = places.length;
    while (at > 0 && numbers[places[at - 1]] < numbers[place]) at--;
    places.splice(at, 0, place);
    if (places.length > count) places.pop();
    if (places.length === count) least = numbers[places.at(-1)];
  }
  return places;
}

function logSumExp(logits) {
  let best = -Infinity, sum = 0;
  for (let i = 0; i < logits.length; i++) if (!(logits[i] <= best)) best = logits[i];
  if (!Number.isFinite(best))
    throw new RangeError(`logits must have a finite maximum, got ${best}`);
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i] - best);
  return best + Math.log(sum);
}

// Write one target; choose(logits) is the next token's id.
function* writeOne(targets, choose) {
  let id, logProbability = 0;
  while (id !== targets.endId && targets.length < targets.limit) {
    const [logits] = targets.nextLogits();
    const total = logSumExp(logits);
    id = choose(logits);
    logProbability += logits[id] - total;
    targets.append([id]);
    yield { step: targets.length, id, logits };
  }
  const finished = id === targets.endId;
  const ids = targets.written[0].slice(1, finished ? -1 : undefined);
  return { ids, logProbability, finished };
}

const greedySearch = (targets) => writeOne(targets, (logits) => largest(logits, 1)[0]);

function sample(targets, { seed, ...settings }) {
  const uniform = uniformNumbers(seed);
  return writeOne(targets, (logits) => draw(candidateProbabilities(logits, settings), uniform()));
}

// ---- beam search (paper §6.1) ---------------------------------------------------------------

const lengthPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

// At every step each hypothesis is continued by every token, and the most probable are kept: at
// most width. Those that end are complete; the others go on until they can no longer be among the
// best. What begin gives counts as certain.
function* beamSearch(targets, { width, alpha = 0.6, numBest = 1 }) {
  const finalists = []; // complete, best first
  let living = [{ total: 0, place: 0 }]; // place: among the branches of the step before
  for (let step = targets.length + 1; ; step++) {
    const kept = bestContinuations(living, targets.nextLogits(), width);
    for (const branch of kept) {
      branch.score = branch.total / lengthPenalty(step, alpha);
      branch.finished = branch.id === targets.endId;
      branch.isComplete = branch.finished || step === targets.limit;
      if (branch.isComplete) addFinalist(finalists, branch, targets, numBest);
    }
    const going = kept.filter((branch) => !branch.isComplete);
    // A log-probability only falls, and the penalty is largest at the maximum length.
    const bound = going.length && going[0].total / lengthPenalty(targets.limit, alpha);
    const isUndecided = going.length > 0
      && (finalists.length < numBest || bound > finalists.at(-1).score);
    yield { step, branches: kept.map((branch) => ({
      parent: living[branch.row].place, id: branch.id, logProbability: branch.total,
      score: branch.score, finished: branch.finished,
      continues: isUndecided && !branch.isComplete,
    })) };
    if (!isUndecided) return finalists;
    targets.keep(going.map(({ row }) => row));
    targets.append(going.map(({ id }) => id));
    living = going.map((branch) => ({ total: branch.total, place: kept.indexOf(branch) }));
  }
}

function bestContinuations(living, logits, width) {
  const all = living.flatMap(({ total }, row) => {
    const norm = logSumExp(logits[row]);
    return largest(logits[row], width).map((id) =>
      ({ row, id, total: total + logits[row][id] - norm }));
  }).filter(({ total }) => total > -Infinity);
  return largest(all.map(({ total }) => total), width).map((place) => all[place]);
}

function addFinalist(finalists, { row, id, total, score, finished }, targets, numBest) {
  const ids = [...targets.written[row].slice(1), ...(finished ? [] : [id])];
  const worse = finalists.findIndex((other) => other.score < score);
  finalists.splice(worse < 0 ? finalists.length : worse, 0,
    { ids, score, logProbability: total, finished });
  finalists.length = Math.min(finalists.length, numBest);
}

// ---- sampling -------------------------------------------------------------------------------

const ROUNDING = 1 - 8 * 2 ** -23; // a sum that misses a limit by a rounding error has reached it

// softmax(logits / temperature), with the tail cut off: topK tokens are kept; of these, the
// likeliest that together reach topP; of these, those with at least minP times the likeliest's
// probability.
function candidateProbabilities(logits, { temperature = 1, topK, topP, minP } = {}) {
  if (!(temperature > 0)) throw new RangeError(`temperature must be above 0, got ${temperature}`);
  // Less the best logit, so that no quotient exceeds 0, however small the temperature is.
  const best = logits[largest(logits, 1)[0]];
  const scaled = logits.map((logit) => (logit - best) / temperature), total = logSumExp(scaled);
  const probabilities = scaled.map((number) => Math.exp(number - total));
  if (topK) keepOnly(probabilities, largest(probabilities, topK));
  if (topP && topP < 1) keepOnly(probabilities, nucleus(probabilities, topP));
  if (minP) {
    const least = minP * ROUNDING * probabilities.reduce((a, b) => Math.max(a, b));
    keepOnly(probabilities, [...probabilities.keys()].filter((id) => probabilities[id] >= least));
  }
  return probabilities;
}

// The fewest tokens whose probabilities sum to at least topP.
function nucleus(probabilities, topP) {
  const ids = largest(probabilities, probabilities.length);
  let sum = 0, count = 0;
  while (count < ids.length && sum < topP * ROUNDING) sum += probabilities[ids[count++]];
  return ids.slice(0, count);
}

// The others get 0, and these sum to one again.
function keepOnly(probabilities, ids) {
  const kept = ids.map((id) => probabilities[id]), sum = kept.reduce((a, b) => a + b, 0);
  probabilities.fill(0);
  ids.forEach((id, at) => (probabilities[id] = kept[at] / sum));
}

// The first token whose cumulative probability exceeds a number from 0 to 1.
function draw(probabilities, uniform) {
  const total = probabilities.reduce((a, b) => a + b, 0);
  let reached = 0, last = 0;
  for (let id = 0; id < probabilities.length; id++) {
    if (probabilities[id] === 0) continue;
    reached += probabilities[id];
    last = id;
    if (reached > uniform * total) break;
  }
  return last;
}

// The same seed gives the same numbers in [0, 1): the generator mulberry32.
function uniformNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
