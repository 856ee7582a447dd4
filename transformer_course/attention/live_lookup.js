// One query, its keys and their values in the plane: all of them can be moved.
// The two numbers of a vector that are drawn stand for d_k of them: random vectors of d_k numbers
// have scores √(d_k / 2) times as large as those of 2.

const STEP = 0.1; // of an arrow key
const { words, extent, widths } = data;
const start = () => structuredClone({
  query: data.query, key: data.key, value: data.value, width: 0, divided: false,
});
let state = start();

function attention() {
  const width = widths[state.width];
  const factor = Math.sqrt(width / 2) / (state.divided ? Math.sqrt(width) : 1);
  const [x, y] = state.query;
  const scores = state.key.map(([a, b]) => factor * (x * a + y * b));
  const weights = softmax(scores);
  const mean = (axis) => weights.reduce((sum, one, i) => sum + one * state.value[i][axis], 0);
  return { scores, weights, output: [mean(0), mean(1)] };
}

// ---- what stays: the points that can be moved ------------------------------------------------

const inWords = ([x, y]) => `(${fixed(x)}, ${fixed(y)})`;
const under = svg("g");
const planes = { match: null, mix: null }; // their scales, in the layout of now

// A point of a plane; get() and set([x, y]) are its place.
function mover(plane, text, aloud, shape, get, set) {
  const word = svg("text", { class: "outlined" }, text);
  const made = svg("g", {}, svg("circle", { class: "grip", r: 21 }), shape, word);
  const put = (to) => {
    set(to.map((each) => clamp(Math.round(100 * each) / 100, -extent, extent)));
    redraw();
  };
  draggable(made, {
    label: aloud,
    value: () => inWords(get()),
    range: () => [-extent, extent, get()[0]], // of two numbers, the first
    drag: ({ x, y }) => put([planes[plane].x.back(x), planes[plane].y.back(y)]),
    nudge: (dx, dy) => put([get()[0] + STEP * dx, get()[1] + STEP * dy]),
  });
  return Object.assign(made, { plane, get, word });
}

const dot = (color, r) => svg("circle", { r, fill: `var(--${color})` });
const square = () => svg("rect", { x: -7, y: -7, width: 14, height: 14, fill: "var(--green)" });
const movers = [
  mover("match", "query", "query", dot("orange", 9), () => state.query, (to) => (state.query = to)),
  ...words.map((word, i) => mover("match", word, `key of ${word}`, dot("blue", 7),
    () => state.key[i], (to) => (state.key[i] = to))),
  ...words.map((word, i) => mover("mix", word, `value of ${word}`, square(),
    () => state.value[i], (to) => (state.value[i] = to))),
];
const output = svg("g", { "pointer-events": "none" },
  svg("path", { d: "M0-13L4-4L13-4L6 3L8 12L0 7L-8 12L-6 3L-13-4L-4-4Z", fill: "var(--orange)" }),
  svg("text", { class: "outlined" }, "output"));

// ---- drawing ---------------------------------------------------------------------------------

// Where the planes are, [left, top, side], and the rows of bars, [left, top, width, height].
const places = ({ isNarrow }) => isNarrow
  ? { match: [80, 24, 240], bars: [14, 306, 372, 25], mix: [80, 424, 240] }
  : { match: [8, 26, 296], bars: [326, 44, 148, 296 / words.length], mix: [496, 26, 296] };

const line = ([x1, y1], [x2, y2], style) => svg("line", { x1, y1, x2, y2, style });
const at = (plane, [x, y]) => [planes[plane].x(x), planes[plane].y(y)];

function drawPlane(plane, title, [left, top, side]) {
  const range = [-extent, extent];
  const x = scale(range, [left, left + side]), y = scale(range, [top + side, top]);
  planes[plane] = { x, y, box: [left, top, side] };
  const units = span(2 * extent + 1).map((each) => each - extent);
  const grid = units.map((u) => `M${x(u)} ${top}v${side}M${left} ${y(u)}h${side}`).join("");
  const axes = `M${x(0)} ${top}v${side}M${left} ${y(0)}h${side}`;
  return [
    svg("path", { d: grid, style: "stroke:var(--pale)" }),
    svg("path", { d: axes, style: "stroke:var(--rule);stroke-width:1.5" }),
    heading(left, top - 9, "start", title),
  ];
}

// What the two numbers of the query and the keys stand for.
function drawFeatures([left, top, side]) {
  const [across, up] = data.features, middle = top + side / 2;
  return [
    heading(left + side, middle - 6, "end", `${across} →`, "outlined"),
    heading(left + side / 2 + 6, top + 12, "start", `↑ ${up}`, "outlined"),
  ];
}

// The arrows, and the line of the keys whose score is 0, at right angles to the query.
function drawMatch() {
  const [x, y] = state.query, origin = at("match", [0, 0]);
  const lines = state.key.map((key) =>
    line(origin, at("match", key), "stroke:var(--blue);stroke-width:1.5"));
  lines.push(line(origin, at("match", state.query), "stroke:var(--orange);stroke-width:3.5"));
  const far = extent / Math.max(Math.abs(x), Math.abs(y));
  if (!Number.isFinite(far)) return lines;
  const down = x < 0 ? -far : far, end = at("match", [y * down, -x * down]);
  const said = at("match", [0.86 * y * down, -0.86 * x * down]);
  const zero = line(at("match", [-y * down, x * down]), end,
    "stroke:var(--quiet);stroke-dasharray:3 5");
  return [zero, heading(...said, "middle", "score 0", "outlined"), ...lines];
}

// All triangles of values together are their hull.
function drawMix({ weights, output }) {
  const corners = state.value.map((value) => at("mix", value));
  const hull = corners.flatMap((a, i) => corners.slice(i + 1).flatMap((b, j) =>
    corners.slice(i + j + 2).map((c) => svg("polygon", { points: [a, b, c].join(" "),
      style: "fill:var(--hull);stroke:var(--hull)" }))));
  const links = corners.map((corner, i) => line(corner, at("mix", output),
    `stroke:var(--ink);stroke-linecap:round;stroke-width:${(0.5 + 9 * weights[i]).toFixed(2)}`));
  return [svg("g", { class: "hull" }, ...hull), ...links];
}

function drawBars({ scores, weights }, [left, top, width, height], isNarrow) {
  const [under, bar, room] = isNarrow ? [0, 166, width - 218] : [22, 0, width - 54];
  const rows = words.map((word, i) => {
    const y = top + i * height, rect = { x: left + bar, y: y + under - 13, height: 16 };
    return svg("g", {},
      write(left, y, "start", word),
      write(left + (isNarrow ? 150 : width), y, "end", `score ${fixed(scores[i], 1)}`),
      svg("rect", { ...rect, width: room, fill: "var(--pale)" }),
      svg("rect", { ...rect, class: "bar", width: room * weights[i], fill: "var(--blue)" }),
      write(left + width, y + under, "end", percent(weights[i])));
  });
  return [heading(left, top - (isNarrow ? 22 : 27), "start", "scores and weights"), ...rows];
}

// The word of a point: on the far side from the middle, where that is inside the plane; that of
// the output on the near side, since it may be where a value is.
function putWord(word, [x, y], [left, top, side], isOutput) {
  const anchor = x - left < 60 ? "start" : left + side - x < 60 ? "end" : "middle";
  const isLow = y > top + side / 2, room = isLow ? top + side - y : y - top;
  const below = isLow === (room > 32 && !isOutput);
  setAttributes(word, { x: { start: -8, middle: 0, end: 8 }[anchor], y: below ? 26 : -15,
    "text-anchor": anchor });
}

function draw(layout) {
  const now = attention(), { match, bars, mix } = places(layout);
  const grids = [
    ...drawPlane("match", "query and keys (drag them)", match),
    ...drawPlane("mix", "values (drag them) and output", mix),
  ];
  under.replaceChildren(...grids, ...drawFeatures(match), ...drawMatch(), ...drawMix(now),
    ...drawBars(now, bars, layout.isNarrow));
  for (const each of movers) {
    const where = at(each.plane, each.get());
    place(each, ...where);
    putWord(each.word, where, planes[each.plane].box, false);
  }
  const where = at("mix", now.output);
  place(output, ...where);
  putWord(output.lastChild, where, mix, true);
  say(...sentence(now));
}

// ---- words and controls ----------------------------------------------------------------------

function sentence({ weights, output }) {
  const order = span(words.length).sort((one, other) => weights[other] - weights[one]);
  const shares = listed(words, order, (i) => percent(weights[i]));
  const width = widths[state.width];
  const typical = `At d_k = ${width}, typical scores are ${
    fixed(Math.sqrt(width / 2), 0)} times as large, and `;
  const divided = state.divided ? `divided by √${width} = ${fixed(Math.sqrt(width))}` : "not divided";
  return ["The query attends to ", ...shares, `. The output is ${inWords(output)}. `,
    `${width > 2 ? typical : "The scores are "}${divided}.`];
}

const width = slider({
  label: "numbers in a vector, d_k", min: 0, max: widths.length - 1, value: state.width,
  show: (index) => String(widths[index]),
  change: (index) => ((state.width = index), redraw()),
});
const divide = toggle({
  label: "divide the scores by √d_k", value: state.divided,
  change: (to) => ((state.divided = to), redraw()),
});
const again = button({ label: "Start again", press: () => {
  state = start();
  width.set(state.width);
  divide.set(state.divided);
  redraw();
} });
controls.append(width, divide, again);
const { picture: drawn, redraw } = picture({
  label: "A query, keys and values in the plane", wide: [800, 334], narrow: [400, 670], draw,
});
drawn.append(under, ...movers, output);
redraw();
