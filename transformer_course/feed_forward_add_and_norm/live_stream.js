// A word's vector on the residual stream of an encoder: what each sub-layer adds to it.
// A state is a stack, a word and a place: 0 is the input, then each sub-layer, then a last norm.

const { words, stacks } = data;
const most = Math.max(...stacks.map((each) => each.words[0].length)); // places
let { word, at } = data, which = 0;

const path = () => stacks[which].words[word];
const numbers = (index) => {
  const [read, added, sum, after, cosine, alike] = path()[index];
  return { before: index ? path()[index - 1][3] : 0, read, added, sum, after, cosine, alike };
};
const kindOf = (index) => index === 0 ? "input" : index > stacks[which].sublayers ? "norm"
  : index % 2 ? "attn" : "FFN";
const isNormed = (index) => index > 0 && (kindOf(index) === "norm" || !stacks[which].normFirst);
const SUBLAYERS = { attn: "self-attention", FFN: "feed-forward" };

// ---- drawing ---------------------------------------------------------------------------------

const places = ({ isNarrow }) => isNarrow
  ? { left: 38, right: 388, top: 26, bottom: 206, alike: [270, 330], plane: [10, 378, 176, 116],
      list: [206, 392], notes: [206, 492] }
  : { left: 46, right: 516, top: 26, bottom: 236, alike: [304, 374], plane: [566, 34, 222, 190],
      list: [566, 250], notes: [566, 350] };

const text = (x, y, anchor, said, kind = "heading") =>
  svg("text", { x, y, "text-anchor": anchor, class: kind }, said);

// The distance of ticks: at most five up to a value.
function tick(value) {
  const ten = 10 ** Math.floor(Math.log10(value / 5));
  return ten * [1, 2, 5, 10].find((each) => 5 * each * ten >= value);
}

let x = null; // from places to coordinates, in the layout of now
function drawAxis(y, ticks, { left, right }, said) {
  const over = text(0, y(Math.max(...ticks)) - 12, "start", said);
  return [over, ...ticks.flatMap((each) => [
    trace(`M${left} ${y(each)}H${right}`, `stroke:var(--${each ? "pale" : "rule"})`),
    text(left - 6, y(each) + 4, "end", fixed(each, Number.isInteger(each) ? 0 : 1))])];
}

function dot(px, py, isSquare) {
  return isSquare
    ? svg("rect", { x: px - 4.5, y: py - 4.5, width: 9, height: 9, fill: "var(--green)" })
    : svg("circle", { cx: px, cy: py, r: 4.5, fill: "var(--blue)" });
}

function drawLengths(y, { bottom }) {
  const all = span(path().length).map(numbers), wide = x(1) - x(0);
  const line = all.map(({ sum, after }, i) => `${x(i)} ${y(sum)}L${x(i) + 0.32 * wide} ${y(after)}`);
  const bars = all.map(({ added }, i) => svg("rect", { class: "added", x: x(i) - 0.22 * wide,
    width: 0.44 * wide, y: y(added), height: bottom - y(added), fill: "var(--orange)" }));
  return [...bars, trace(`M${line.join("L")}`, "stroke:var(--blue);stroke-width:2.5"),
    ...all.map(({ after }, i) => dot(x(i) + 0.32 * wide, y(after), isNormed(i)))];
}

function drawAlike(y) {
  const shift = 0.32 * (x(1) - x(0));
  const at = path().map((_, i) => [x(i) + shift, y(Math.max(0, numbers(i).alike))]);
  return [trace(`M${at.join("L")}`, "stroke:var(--purple);stroke-width:2"),
    ...at.map(([cx, cy]) => svg("circle", { cx, cy, r: 3.5, fill: "var(--purple)" }))];
}

function drawNames({ bottom }) {
  return path().flatMap((_, i) => [text(x(i), bottom + 17, "middle", kindOf(i)),
    ...(SUBLAYERS[kindOf(i)] && i % 2
      ? [text(x(i + 0.5), bottom + 34, "middle", `layer ${(i + 1) / 2}`)] : [])]);
}

function arrow([x1, y1], [x2, y2], color, style = "stroke-width:3") {
  const long = Math.hypot(x2 - x1, y2 - y1), head = Math.min(9, long / 2);
  const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  return svg("g", { transform: `translate(${x1} ${y1}) rotate(${turn})` },
    trace(`M0 0H${long - head}`, `stroke:var(--${color});${style}`),
    svg("path", { d: `M${long} 0l${-head}-${head / 2}v${head}Z`, fill: `var(--${color})` }));
}

// Stream, addition and sum as they lie in their plane, and how long they are.
function drawPlane({ plane: [left, top, width, height], list: [start, down], notes }) {
  const { before, read, added, sum, after, cosine } = numbers(at), isOpen = isNormed(at);
  const isSub = kindOf(at) in SUBLAYERS, dash = "stroke-width:2;stroke-dasharray:5 4";
  const [tipX, tipY] = isSub ? [before + added * cosine, added * Math.sqrt(1 - cosine ** 2)]
    : [sum, 0];
  const low = Math.min(0, tipX, before), high = Math.max(before, tipX, after, sum);
  const unit = Math.min(width / (high - low), (height - 20) / Math.max(tipY, 1e-9));
  const to = (px, py) => [left + (px - low) * unit, top + (height + tipY * unit) / 2 - py * unit];
  const along = (length) => to((tipX * length) / sum, (tipY * length) / sum);
  const rows = [
    ...(isSub ? [["before", before, "quiet"], ["added", added, "orange"]] : []),
    ...(at ? [["sum", sum, "blue", isOpen ? dash : undefined]] : [["input", after, "blue"]]),
    ...(isOpen ? [["after the norm", after, "green"]] : [])];
  if (!isSub && at) rows[0][0] = "before";
  const arrows = { before: () => [to(0, 0), to(before, 0)],
    added: () => [to(before, 0), to(tipX, tipY)] };
  const drawn = rows.map(([name, length, color, style]) => arrow(...(isSub && arrows[name]
    ? arrows[name]() : [to(0, 0), along(length)]), color, style));
  const listed = rows.flatMap(([name, length, color, style], i) => [
    arrow([start, down + 22 * i], [start + 34, down + 22 * i], color, style),
    text(start + 44, down + 22 * i + 5, "start", `${name}: ${fixed(length, 1)}`, "")]);
  const more = isSub ? [`cosine of the two: ${fixed(cosine)}`] : [];
  if (isSub && stacks[which].normFirst) more.push(`read after a norm: ${fixed(read, 1)} long`);
  return [text(left, top - 16, "start", "the vectors as arrows"), ...drawn, ...listed,
    ...more.map((each, i) => text(notes[0], notes[1] + 18 * i, "start", each))];
}

function draw(layout) {
  const where = places(layout), { left, right, top, bottom, alike } = where;
  x = scale([-0.5, most - 0.5], [left, right]);
  const largest = Math.max(...path().flatMap(([read, added, sum, after]) => [added, sum, after]));
  const step = tick(largest), ticks = span(Math.ceil(largest / step) + 1).map((i) => i * step);
  const y = scale([0, ticks.at(-1)], [bottom, top]), z = scale([0, 1], [alike[1], alike[0]]);
  const band = svg("rect", { x: x(at - 0.5), width: x(1) - x(0), y: top,
    height: alike[1] - top, fill: "var(--hull)" });
  under.replaceChildren(band,
    ...drawAxis(y, ticks, where, "length: stream (line), addition (bars)"),
    text(right, top - 12, "end", "drag the ring"),
    ...drawLengths(y, where), ...drawNames(where),
    ...drawAxis(z, [0, 1], where, "cosine with the input"), ...drawAlike(z), ...drawPlane(where));
  place(mover, x(at + 0.32), y(numbers(at).after));
  say(...sentence());
}

// ---- words and controls ----------------------------------------------------------------------

function sentence() {
  const { before, read, added, sum, after, alike } = numbers(at), kind = kindOf(at);
  const bold = (length) => html("b", {}, fixed(length, 1)), name = named(words, word);
  const end = [`. Cosine with the input: ${fixed(alike)}.`];
  if (kind === "input") return [...name, " enters the encoder: its embedding and its position ",
    "together are a vector of length ", bold(after), ". Move the ring along the stream."];
  if (kind === "norm") return ["After the last layer, one more norm makes ", ...name,
    ` ${fixed(after, 1)} long. Before, it was `, bold(before), ...end];
  const who = [`Layer ${Math.ceil(at / 2)}, ${SUBLAYERS[kind]}: to the vector of `, ...name,
    ` (length ${fixed(before, 1)}) it adds a vector of length `, bold(added), ". The sum is "];
  return stacks[which].normFirst ? [...who, bold(sum), " long, and no norm changes it", ...end]
    : [...who, `${fixed(sum, 1)} long, and the norm makes it `, bold(after), ...end];
}

function goTo(index) {
  at = clamp(index, 0, path().length - 1);
  redraw();
}

const under = svg("g"), mover = draggable(
  svg("g", {}, svg("circle", { class: "grip", r: 20 }),
    svg("circle", { r: 9, style: "fill:none;stroke:var(--ink);stroke-width:3" })), {
    label: "place in the encoder",
    value: () => `${kindOf(at)}${SUBLAYERS[kindOf(at)] ? `, layer ${Math.ceil(at / 2)}` : ""}`,
    range: () => [0, path().length - 1, at],
    drag: (to) => goTo(Math.round(x.back(to.x) - 0.32)),
    nudge: (dx, dy) => goTo(at + dx + dy),
  });
controls.append(
  choices({ label: "encoder", value: 0, options: stacks.map(({ name }, i) => [i, [name], name]),
    change: (index) => ((which = index), goTo(at)) }),
  choices({ label: "word", value: word, change: (index) => ((word = index), redraw()),
    options: words.map((each, i) => [i, [html("bdi", {}, each)], `${i + 1}: ${each}`]) }));
const { picture: drawn, redraw } = picture({
  label: "The residual stream of a word", wide: [800, 384], narrow: [400, 524], draw,
});
drawn.append(under, mover);
redraw();
