// Sentences and their translations: the German word that is pointed at, and the English words that
// it attends to. English above German; beside it on a phone.

const SAID = 0.05; // the least weight that is written as a number
const FAINTEST = 0.02; // the least weight of the chosen German word that has a line
const OTHERS = 0.1; // the least weight of the other German words that has a line
const CHIP = 34, APART = 9, GAP = 110; // heights: of a word's box, between boxes, between languages
const UPPER = CHIP + 26, LOWER = CHIP + 10, COLUMN = CHIP + 6; // of a line of words
const pen = html("canvas").getContext("2d");
pen.font = `16px ${getComputedStyle(document.body).fontFamily}`;

let sentence, english, german, chosen; // what is shown, its words' boxes, the word pointed at
let sides; // on a phone: right of the English words, left of the German ones
const under = svg("g"), boxes = svg("g");
const ribbon = svg("linearGradient", { id: "ribbon", gradientUnits: "userSpaceOnUse" },
  svg("stop", { offset: 0, style: "stop-color:var(--orange)" }),
  svg("stop", { offset: 1, style: "stop-color:var(--blue)" }));

function box(text, attributes = {}) {
  const room = Math.max(pen.measureText(text).width + 20, 32);
  const around = svg("rect",
    { class: "face", x: -room / 2, y: -CHIP / 2, width: room, height: CHIP, rx: 9 });
  const word = svg("text", { y: 6, "text-anchor": "middle", style: "font-size:16px" }, text);
  return Object.assign(svg("g", attributes, around, word), { room, around, word });
}

function paint(made, weight, color, ink) {
  const fill = `color-mix(in srgb, var(--${color}) ${Math.round(100 * weight)}%, var(--paper))`;
  setAttributes(made.around, { style: `fill:${fill};transition:fill .15s`,
    stroke: `var(--${weight ? color : "rule"})`, "stroke-width": weight ? 2 : 1 });
  made.word.style.fill = `var(--${ink})`;
}

const put = (made, x, y) => place(Object.assign(made, { at: [x, y] }), x, y);

// Words in lines that are about equally long, each in the middle.
function flow(made, top, step, width) {
  const length = (some) => some.reduce((sum, each) => sum + each.room + APART, -APART);
  const most = Math.min(width, length(made) / Math.ceil(length(made) / width) + 60), lines = [[]];
  for (const each of made) {
    if (length([...lines.at(-1), each]) > most) lines.push([]);
    lines.at(-1).push(each);
  }
  lines.forEach((line, row) => line.reduce((x, each) => {
    put(each, x + each.room / 2, top + row * step);
    return x + each.room + APART;
  }, (width - length(line)) / 2));
  return top + (lines.length - 1) * step;
}

function arrange({ width, isNarrow, picture: drawn }) {
  const column = (made, x, side) => made.reduce((y, each) => {
    put(each, x + (side * each.room) / 2, y);
    return y + COLUMN;
  }, 44);
  const widest = (made) => Math.max(...made.map((each) => each.room));
  sides = isNarrow && [Math.max(150, 46 + widest(english)), Math.min(265, 396 - widest(german))];
  const bottom = isNarrow
    ? Math.max(column(english, sides[0], -1), column(german, sides[1], 1)) - CHIP / 2
    : flow(german, flow(english, 66, UPPER, width) + GAP + CHIP, LOWER, width) + CHIP / 2 + 28;
  drawn.setAttribute("viewBox", `0 0 ${width} ${bottom}`);
  drawn.style.minHeight = `${(isNarrow ? 0.9 : 0.72) * bottom}px`;
  return isNarrow
    ? [heading(sides[0], 14, "end", "English, it reads"),
      heading(sides[1], 14, "start", "German, it writes")]
    : [heading(0, 14, "start", "English: the translator reads it"),
      heading(0, bottom - 6, "start", "German: the translator writes it, word by word")];
}

// From a German word up, or to the left, to an English one.
function line(from, to, weight, style) {
  const [x, y] = from.at, [u, v] = to.at, half = CHIP / 2;
  const middle = sides ? (sides[0] + sides[1]) / 2 : (y + v) / 2;
  const d = sides ? `M${sides[1]} ${y}C${middle} ${y} ${middle} ${v} ${sides[0]} ${v}`
    : `M${x} ${y - half}C${x} ${middle} ${u} ${middle} ${u} ${v + half}`;
  const width = (0.8 + 12 * weight).toFixed(2);
  return svg("path", { d, fill: "none", "stroke-linecap": "round", "stroke-width": width, style });
}

function lines() {
  const ends = sides ? { x1: sides[1], x2: sides[0], y1: 0, y2: 0 }
    : { x1: 0, x2: 0, y1: german[0].at[1] - CHIP / 2, y2: english.at(-1).at[1] + CHIP / 2 };
  setAttributes(ribbon, ends);
  const of = (row, least, thinner, style) => sentence.weights[row].flatMap((weight, key) =>
    weight < least ? [] : [line(german[row], english[key], weight / thinner, style)]);
  const others = span(german.length).filter((row) => row !== chosen);
  return [...others.flatMap((row) => of(row, OTHERS, 3, "stroke:var(--rule);opacity:.7")),
    ...of(chosen, FAINTEST, 1, "stroke:url(#ribbon)")];
}

// How much a word is attended to: above it, or on its left.
function share({ at: [x, y], room }, weight) {
  const where = sides ? [x - room / 2 - 6, y + 5, "end"] : [x, y - CHIP / 2 - 7, "middle"];
  return write(...where, percent(weight), { style: "font-weight:650" });
}

function draw(layout) {
  const passive = [...arrange(layout), ...lines()];
  sentence.weights[chosen].forEach((weight, key) => {
    const isBright = weight >= 0.5, light = weight < SAID ? 0 : isBright ? 1 : weight;
    paint(english[key], light, "blue", isBright ? "on-blue" : "ink");
    if (weight >= SAID) passive.push(share(english[key], weight));
  });
  under.replaceChildren(...passive);
  german.forEach((each, row) => {
    each.setAttribute("aria-pressed", row === chosen);
    paint(each, row === chosen ? 0.22 : 0, "orange", "ink");
  });
  say(...readout());
}

function readout() {
  const row = sentence.weights[chosen], isEnd = chosen === german.length - 1;
  const order = span(row.length).sort((one, other) => row[other] - row[one]);
  const large = order.filter((key, rank) => rank === 0 || row[key] >= SAID);
  const rest = order.slice(large.length).reduce((sum, key) => sum + row[key], 0);
  return [...(isEnd ? ["To end the sentence"] : ["To write ", ...named(sentence.german, chosen)]),
    ", the translator attends to ",
    ...listed(sentence.english, large, (key) => percent(row[key])),
    large.length < row.length ? `, and to all other words together ${percent(rest)}.` : "."];
}

function choose(row) {
  chosen = row ?? sentence.marked;
  redraw();
}

function open(index) {
  picker.value = index;
  sentence = sentences[index];
  english = sentence.english.map((word) => box(word));
  german = sentence.german.map((word) => box(word, { role: "button", "aria-label": word }));
  german.forEach((each, row) => each.addEventListener("pointerenter", () => choose(row)));
  roving(german, { choose, press: choose, start: sentence.marked });
  boxes.replaceChildren(...english, ...german);
  choose(null);
}

const { sentences } = data, kinds = new Set(sentences.map(({ kind }) => kind));
const picker = html("select", { style: "max-width:100%" }, ...[...kinds].map((kind) =>
  html("optgroup", { label: kind }, ...sentences.flatMap((each, index) =>
    each.kind === kind ? [html("option", { value: index }, each.text)] : []))));
picker.addEventListener("change", () => open(Number(picker.value)));
const next = button({ label: "Next sentence", press: () =>
  open((sentences.indexOf(sentence) + 1) % sentences.length) });
controls.append(html("label", { style: "min-width:0" }, label("sentence"), picker), next);
const { picture: drawn, redraw } = picture({ label: "English words, and the German words after them",
  wide: [800, 280], narrow: [400, 500], draw });
drawn.append(svg("defs", {}, ribbon), under, boxes);
open(data.first);
