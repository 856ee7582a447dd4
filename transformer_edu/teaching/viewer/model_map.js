// The map of the model: a chosen box says what goes in and out, and where it is in the code.
// On a phone, one half of the map is seen: the one of the chosen box.

const { elements, lessons, models } = data;
const [WIDTH, HEIGHT] = data.size;
const names = Object.keys(lessons);
let chosen = data.first, which = 0, shown = null;

const partOf = (name) => models[which].parts[name];
const sideOf = (name) => name.split(": ")[0];
const inWords = (name) => name.replace(/^\w+: \+? ?/, "").replace(" × √d_model", "")
  .replace(/^(.*), Add & Norm$/, "Add & Norm around $1");

// ---- the drawing, made once ------------------------------------------------------------------

function drawing({ kind, x, y, width, height, ...more }) {
  if (kind === "rect") return svg("rect",
    { x, y, width, height, rx: Math.min(6, height / 5), class: more.sheet ? "sheet" : "line" });
  if (kind === "mask") return svg("g", {}, svg("rect", { x, y, width, height, class: "mask" }),
    ...more.hidden.map(([row, column]) => svg("rect", { x: x + (column * width) / 3,
      y: y + (row * height) / 3, width: width / 3, height: height / 3, class: "hidden" })));
  if (kind === "words") return svg("g", {}, ...more.lines.map((line, i) => svg("text",
    { x, y: y + 5 + 17 * (i - (more.lines.length - 1) / 2), "text-anchor": more.anchor }, line)));
  const head = svg("path", { d: "M0 0L-8-4L-8 4Z", class: "head" });
  const [[x1, y1], [x2, y2]] = more.points.slice(-2);
  const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  head.setAttribute("transform", `translate(${x2} ${y2}) rotate(${turn})`);
  return svg("g", {}, svg("polyline", { points: more.points.join(" "), class: "arrow" }), head);
}

const DEPTH = ["rect", "mask", "words"]; // from back to front
const around = elements.filter((each) => each.box === null);
const boxes = names.map((name) => {
  const own = elements.filter((each) => each.box === name)
    .sort((one, other) => DEPTH.indexOf(one.kind) - DEPTH.indexOf(other.kind));
  const { x, y, width, height } = own.find((each) => each.kind === "rect" && !each.sheet);
  const grip = svg("rect", { x, y: y - 5, width, height: height + 10, fill: "transparent" });
  return svg("g", { role: "button", "aria-label": `${inWords(name)}, ${sideOf(name)}` },
    grip, ...own.map(drawing));
});
boxes.forEach((box, i) => box.addEventListener("focus", () => choose(names[i])));
roving(boxes, { choose: () => {}, press: (i) => choose(names[i]), start: names.indexOf(chosen) });

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
    const line = isChosen ? "fill:var(--blue);stroke:var(--orange);stroke-width:4"
      : isSame ? "fill:var(--pale);stroke:var(--blue);stroke-width:3" : style.line;
    paint(box, { line, words: isChosen ? "fill:var(--on-blue);font-weight:650" : "" });
    box.setAttribute("aria-pressed", isChosen);
    box.setAttribute("tabindex", isChosen ? 0 : -1);
  });
  if (boxes.includes(focused) && focused.isConnected) focused.focus();
  const lines = now.isNarrow ? where() : [where().join(" · ")];
  caption.replaceChildren(...lines.map((line, i) =>
    svg("text", { class: "heading", x: now.width / 2, y: HEIGHT + 24 + 18 * i,
      "text-anchor": "middle" }, line)));
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
  const share = (parameters * layers) / total, bold = html("b", {}, number(parameters));
  const count = parameters === 0 ? ["It has no parameters."]
    : shared ? ["It has ", bold,
      ` parameters, ${number(shared)} of them shared with the first embedding.`]
    : layers > 1 ? ["It has ", bold, ` parameters in each of ${layers} layers: ${
      percent(share)} of the model's ${number(total)}.`]
    : ["It has ", bold, ` parameters: ${percent(share)} of the model's ${number(total)}.`];
  return [html("b", {}, inWords(chosen)), `: ${into}${output} out. `, ...count];
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
