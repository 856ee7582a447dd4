// Which tokens may be drawn: temperature, top-k, top-p and min-p, and what is drawn then.
// The tokens of a step are in order of their probability, so those that are kept are the first.

const SHOWN = 10; // tokens with a row of their own; the others share rows
const { steps, settings } = data;
for (const each of Object.values(steps)) each.words = each.words.split("\n");
const names = Object.keys(steps), kinds = Object.keys(settings);
const many = (number) => number.toLocaleString("en-US");

// All log-probabilities: the first are exact, the rest are counted in steps of 0.01.
const logProbabilities = Object.fromEntries(Object.entries(steps).map(([name, { first, rest }]) =>
  [name, [...first, ...rest.counts.flatMap((count, i) => Array(count).fill(rest.top - i / 100))]]));

let step = names.at(-1), last = null; // the rank of the token that was drawn last
let counts = new Map(); // how often a token was drawn, by its rank
const start = () => Object.fromEntries(kinds.map((kind) => [kind, settings[kind].start]));
let at = start();

const sum = (numbers, from, to) => numbers.slice(from, to).reduce((all, one) => all + one, 0);
const tempered = (temperature) => softmax(logProbabilities[step].map((each) => each / temperature));

// How many tokens are kept, and how much probability they had: first the temperature, then top-k,
// then top-p of what is left, then min-p. The rounded numbers may miss a limit by the tolerance.
function candidates() {
  const [temperature, topK, topP, minP] = kinds.map((kind) => settings[kind].values[at[kind]]);
  const own = tempered(temperature), tolerance = 1e-6;
  let kept = Math.min(topK || own.length, own.length);
  if (topP) {
    const enough = topP * (1 - tolerance) * sum(own, 0, kept), limit = kept;
    for (let reached = kept = 0; kept < limit && reached < enough; kept++) reached += own[kept];
  }
  if (minP) while (own[kept - 1] < minP * (1 - tolerance) * own[0]) kept--;
  return { own, kept, share: sum(own, 0, kept), temperature };
}

// ---- drawing ---------------------------------------------------------------------------------

// From which rank to which: the first tokens alone, then up to the 100th, the 1,000th, and the rest.
function rows() {
  const size = logProbabilities[step].length;
  const alone = span(Math.min(SHOWN, size)).map((i) => [i, i + 1]);
  const groups = [[SHOWN, 100], [100, 1000], [1000, size]].filter(([from]) => from < size);
  return [...alone, ...groups.map(([from, to]) => [from, Math.min(to, size)])];
}

const ROW = 23, TOP = 38;
const columns = ({ isNarrow }) => isNarrow
  ? { words: 104, bars: [112, 292], share: 342, counts: 398, legend: [[8, 18, 214], [8, 214]] }
  : { words: 150, bars: [160, 630], share: 694, counts: 790, legend: [[160, 370, 470, 630]] };

// The axis ends at the first of these that holds every bar.
const ENDS = [0.04, 0.1, 0.2, 0.4, 1];
function longest(all, { own, kept, share }, model) {
  const shown = all.flatMap(([from, to]) =>
    [sum(own, from, Math.min(to, kept)) / share, sum(own, Math.max(from, kept), to),
      sum(model, from, to)]);
  return ENDS.find((end) => Math.max(...shown) <= end) ?? 1;
}

function drawAxis({ words, bars, counts: right }, x, bottom, end) {
  const ticks = span(5).map((i) => (end * i) / 4).flatMap((tick) => [
    svg("path", { d: `M${x(tick)} ${TOP - 6}V${bottom}`, style: "stroke:var(--rule)" }),
    heading(x(tick), TOP - 11, "middle", `${Number((100 * tick).toPrecision(3))}%`)]);
  return [...ticks, heading(words, 12, "end", "token, or ranks"),
    heading(bars[0], 12, "start", "probability of being drawn"),
    heading(right, 12, "end", "times drawn")];
}

function drawRow([from, to], index, now, model, column, x) {
  const y = TOP + ROW * index, { own, kept, share } = now;
  const chance = sum(own, from, Math.min(to, kept)) / share, cut = sum(own, Math.max(from, kept), to);
  const height = chance && cut ? 8 : 16;
  const times = sum([...counts].filter(([rank]) => from <= rank && rank < to).map(([, n]) => n));
  const ranks = to === from + 1 ? many(to) : `${many(from + 1)} – ${many(to)}`;
  const word = to === from + 1 ? steps[step].words[from] ?? ranks : ranks; // not all have words
  const bar = (top, width, fill) => svg("rect", { x: x(0), y: y + top, height, width, style:
    `fill:${fill};stroke:${fill === "var(--blue)" ? "none" : "var(--quiet)"}` });
  const made = [write(column.words, y + 13, "end", word)];
  if (chance) made.push(bar(0, x(chance) - x(0), "var(--blue)"));
  if (cut) made.push(bar(chance ? 9 : 0, x(cut) - x(0), "url(#hatch)"));
  made.push(mark(x(sum(model, from, to)), y + 8));
  made.push(write(column.share, y + 13, "end", chance ? percent(chance) : "cut"));
  if (!times) return made;
  const all = sum([...counts.values()]);
  return [...made, diamond(Math.min(x(times / all), column.bars[1]), y + 8),
    write(column.counts, y + 13, "end", many(times), { class: "times" })];
}

const mark = (x, y) => svg("path", { d: `M${x} ${y - 10}v20`,
  style: "stroke:var(--ink);stroke-width:2.5" });
const diamond = (x, y) => svg("path", { d: `M${x} ${y - 8}l8 8l-8 8l-8-8Z`,
  style: "fill:var(--orange);stroke:var(--paper);stroke-width:1.5" });
const box = (x, y, style) => svg("rect", { x, y: y - 6, width: 14, height: 12, style });

function drawLegend({ legend }, top) {
  const signs = [
    [(x, y) => box(x, y, "fill:var(--blue)"), "drawn with this probability"],
    [(x, y) => box(x, y, "fill:url(#hatch);stroke:var(--quiet)"), "cut off"],
    [(x, y) => mark(x + 7, y), "by the model alone"],
    [(x, y) => diamond(x + 7, y), "share of your draws"],
  ];
  const spots = legend.length > 1
    ? [[8, 0], [214, 0], [8, 1], [214, 1]] : legend[0].map((x) => [x, 0]);
  return signs.flatMap(([sign, said], i) => {
    const [x, line] = spots[i], y = top + 22 * line;
    return [sign(x, y), heading(x + 20, y + 4, "start", said)];
  });
}

const under = svg("g");
function draw(layout) {
  const column = columns(layout), now = candidates(), all = rows(), model = tempered(1);
  const bottom = TOP + ROW * all.length, end = longest(all, now, model);
  const x = scale([0, end], column.bars);
  under.replaceChildren(...drawAxis(column, x, bottom - 4, end),
    ...all.flatMap((row, i) => drawRow(row, i, now, model, column, x)),
    ...drawLegend(column, bottom + 14));
  say(...sentence(now));
}

// ---- words and controls ----------------------------------------------------------------------

const who = (rank) => rank < steps[step].words.length
  ? named(steps[step].words, rank) : [`the token of rank ${many(rank + 1)}`];

function sentence({ own, kept, share, temperature }) {
  const when = temperature === 1 ? "" : `At temperature ${temperature}, `;
  const they = (who) => `${when}${when ? who.toLowerCase() : who} had `;
  const had = [they(kept === 1 ? "It" : "They"), bold(percent(share)), " of the probability. "];
  const now = [...who(0), " is drawn with ", bold(percent(own[0] / share)), ". "];
  const first = kept === 1 ? ["Only ", ...who(0), " may be drawn, as in greedy search. ", ...had]
    : kept < own.length
      ? [bold(many(kept)), ` of ${many(own.length)} tokens may be drawn. `, ...had, ...now]
      : ["All ", bold(many(kept)), " tokens may be drawn. ", ...now];
  if (last === null) return first;
  const times = sum([...counts.values()]);
  return [...first, `${many(times)} drawn, the last was `, ...who(last), "."];
}

function renew() {
  counts = new Map();
  last = null;
  redraw();
}

function drawTokens(number) {
  const { own, kept, share } = candidates();
  for (let i = 0; i < number; i++) {
    let luck = Math.random() * share;
    for (last = 0; last < kept - 1 && luck >= own[last]; last++) luck -= own[last];
    counts.set(last, (counts.get(last) ?? 0) + 1);
  }
  redraw();
}

const model = choices({ label: "decoder", name: "step", options: names, value: step,
  change: (to) => ((step = to), renew()) });
const sliders = kinds.map((kind) => slider({
  label: kind, min: 0, max: settings[kind].values.length - 1, value: at[kind],
  show: (index) => settings[kind].values[index] ? many(settings[kind].values[index]) : "off",
  change: (index) => ((at[kind] = index), renew()),
}));
controls.append(...sliders, model,
  button({ label: "Draw a token", press: () => drawTokens(1) }),
  button({ label: "Draw 100", press: () => drawTokens(100) }),
  button({ label: "Start again", press: () => {
    at = start();
    sliders.forEach((each, i) => each.set(at[kinds[i]]));
    renew();
  } }));
const height = TOP + ROW * Math.max(...names.map((name) => ((step = name), rows().length)));
const { picture: shown, redraw } = picture({
  label: "Tokens and their probability of being drawn",
  wide: [800, height + 28], narrow: [400, height + 50], draw,
});
shown.append(under);
redraw();
