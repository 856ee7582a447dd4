// The map of the model: a chosen box says what goes in and out, and where it is in the code.
// On a phone, one half of the map is seen: the one of the chosen box.

const { elements, lessons, models } = data;
const [WIDTH, HEIGHT] = data.size;
const names = Object.keys(lessons); // in the order in which data flows through the boxes
let chosen = data.first, which = 0, shown = null;

const partOf = (name) => models[which].parts[name];
const sideOf = (name) => name.split(": ")[0];
const inFull = (name) => name.replace(/^\w+: /, "")
  .replace(/^(.*), Add & Norm$/, "Add & Norm around $1");
const inWords = (name) => inFull(name).replace("+ ", "").replace(" × √d_model", "");

// ---- the drawing, made once ------------------------------------------------------------------

function drawing({ kind, x, y, width, height, ...more }) {
  if (kind === "rect") return svg("rect",
    { x, y, width, height, rx: Math.min(6, height / 5), class: more.sheet ? "sheet" : "line" });
  if (kind === "mask") return svg("g", {}, svg("rect", { x, y, width, height, class: "mask" }),
    ...more.hidden.map(([row, column]) => svg("rect", { x: x + (column * width) / 3,
      y: y + (row * height) / 3, width: width / 3, height: height / 3, class: "hidden" })));
  if (kind === "words") return svg("g", {}, ...more.lines.flatMap((line, i) => [svg("text",
    { x, y: y + 5 + 17 * (i - (more.lines.length - 1) / 2), "text-anchor": more.anchor }, line), " "]));
  const head = svg("path", { d: "M0 0L-8-4L-8 4Z", class: "head" });
  const [[x1, y1], [x2, y2]] = more.points.slice(-2);
  const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  head.setAttribute("transform", `translate(${x2} ${y2}) rotate(${turn})`);
  return svg("g", {}, svg("polyline", { points: more.points.join(" "), class: "arrow" }), head);
}

const DEPTH = ["rect", "mask", "words"]; // from back to front
const around = elements.filter((each) => each.box === null);
const frames = names.map((name) =>
  elements.find((each) => each.box === name && each.kind === "rect" && !each.sheet));
const boxes = names.map((name, i) => {
  const own = elements.filter((each) => each.box === name)
    .sort((one, other) => DEPTH.indexOf(one.kind) - DEPTH.indexOf(other.kind));
  const { x, y, width, height } = frames[i];
  const grip = svg("rect", { class: "face", x: x - 4, y: y - 4, width: width + 8,
    height: height + 8, rx: 8, fill: "transparent" });
  return svg("g", { role: "button", "aria-label": `${inFull(name)}, ${sideOf(name)}` },
    grip, ...own.map(drawing));
});
// The next box above or below, in the same column.
function vertical(index, up) {
  const higher = (i) => up * (frames[index].y - frames[i].y);
  const found = span(names.length).filter((i) => frames[i].x === frames[index].x && higher(i) > 0);
  return found.sort((one, other) => higher(one) - higher(other))[0] ?? index;
}
const stops = roving(boxes, {
  choose: (i) => i !== null && choose(names[i]), press: (i) => choose(names[i]),
  vertical, start: names.indexOf(chosen),
});

const style = {
  line: "fill:var(--pale);stroke:var(--quiet)", sheet: "fill:var(--paper);stroke:var(--quiet)",
  arrow: "fill:none;stroke:var(--quiet);stroke-width:1.8",
  head: "fill:var(--quiet)", mask: "fill:var(--quiet)", hidden: "fill:var(--paper)",
};
function paint(element, more = {}) {
  for (const [name, text] of Object.entries({ ...style, ...more }))
    for (const each of element.querySelectorAll(`.${name}`)) each.setAttribute("style", text);
  const words = element.querySelectorAll("text");
  words.forEach((each) => each.setAttribute("style", more.words ?? ""));
}

// ---- drawing ---------------------------------------------------------------------------------

// The halves overlap in nothing but the arrow of the memory, which goes from one to the other.
function halve({ isNarrow }) {
  const side = isNarrow ? sideOf(chosen) : "both";
  if (side === shown) return;
  shown = side;
  const inside = (left) => side === "both" || (left > WIDTH / 2 === (side === "target"));
  const passes = (each) => each.points?.some(([x]) => inside(x));
  const seen = around.filter((each) => passes(each) ?? inside(each.x));
  under.replaceChildren(...seen.map(drawing));
  paint(under, { line: "fill:none;stroke:var(--quiet)" });
  over.replaceChildren(...boxes.filter((_, i) => side === "both" || sideOf(names[i]) === side));
  place(map, isNarrow ? (side === "target" ? 10 - WIDTH / 2 : 4) : (800 - WIDTH) / 2, 4);
}

function draw(now) {
  const focused = document.activeElement;
  halve(now);
  boxes.forEach((box, i) => {
    const own = partOf(names[i]).module, isChosen = names[i] === chosen;
    const isSame = own && own === partOf(chosen).module;
    const line = isChosen ? "fill:var(--blue);stroke:var(--blue);stroke-width:3"
      : isSame ? "fill:var(--pale);stroke:var(--blue);stroke-width:3" : style.line;
    paint(box, { line, words: isChosen ? "fill:var(--on-blue);font-weight:650" : "" });
    box.setAttribute("aria-pressed", isChosen);
  });
  stops.set(names.indexOf(chosen));
  if (boxes.includes(focused) && focused.isConnected) focused.focus();
  const lines = now.isNarrow ? where() : [where().join(" · ")];
  caption.replaceChildren(...lines.map((line, i) =>
    heading(now.width / 2, HEIGHT + 24 + 18 * i, "middle", line)));
  half.hidden = !now.isNarrow;
  half.set(sideOf(chosen));
  say(...words());
}

// ---- words and controls ----------------------------------------------------------------------

const number = (count) => count.toLocaleString("en-US");

function where() {
  const { module, file } = partOf(chosen), [digits] = lessons[chosen].split("_");
  return [...(module ? [`class ${module}`, file] : []),
    `lesson ${Number(digits)}: ${lessons[chosen]}.ipynb`];
}

function words() {
  const { inputs, output, parameters, shared, layers } = partOf(chosen), { total } = models[which];
  const into = inputs.length ? `${inputs.join(" and ")} in, ` : "";
  const share = percent((parameters * layers) / total), has = ["It has ", bold(number(parameters))];
  const count = parameters === 0 ? ["It has no parameters."]
    : shared ? [...has, ` parameters, ${number(shared)} of them shared with the first embedding.`]
    : layers > 1 ? [...has, ` parameters in each of ${layers} layers. In all layers together, `,
      `these are ${share} of the model's ${number(total)}.`]
    : [...has, ` parameters: ${share} of the model's ${number(total)}.`];
  return [bold(inWords(chosen)), `: ${into}${output} out. `, ...count];
}

function choose(name) {
  if (name === chosen) return;
  chosen = name;
  redraw();
}

const half = choices({
  label: "half of the map", value: sideOf(chosen),
  options: [["source", ["encoder"], "encoder"], ["target", ["decoder"], "decoder"]],
  change: (side) => choose(side === "source" ? "source: Self-attention" : data.first),
});
const model = choices({
  label: "model", value: 0, options: models.map(({ name }, i) => [i, [name], name]),
  change: (index) => ((which = index), redraw()),
});
controls.append(...(models.length > 1 ? [model] : []), half);
const under = svg("g"), over = svg("g"), caption = svg("g"), map = svg("g", {}, under, over);
const { picture: drawn, redraw } = picture({
  label: "Map of the Transformer", wide: [800, HEIGHT + 34],
  narrow: [WIDTH / 2 + 14, HEIGHT + 70], draw,
});
drawn.append(map, caption);
redraw();
