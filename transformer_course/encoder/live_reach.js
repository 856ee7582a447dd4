// Which input words a vector of an encoder can depend on, and how much it does.
// A state is a word, a layer (0: the input), and how many neighbors each word attends to.

const { words, shares } = data; // shares[neighbors][word][layer - 1][input word]
const size = words.length, layers = shares[0][0].length, last = size - 1;
let { word } = data, layer = layers, neighbors = Math.min(1, last);

const share = (input) => shares[neighbors][word][layer - 1][input];
const canAttend = (query, key) => Math.abs(query - key) <= neighbors;
// Can the chosen vector depend on this word's vector after this layer?
const isInside = (level, other) =>
  level <= layer && Math.abs(other - word) <= (layer - level) * neighbors;

// ---- the vectors that can be chosen, made once: the last layer is the first row ------------------

const under = svg("g"), levelOf = (index) => layers - Math.floor(index / size);
const vectors = span(layers * size).map((index) => svg("g",
  { role: "button", "aria-label": `${index % size + 1}: ${words[index % size]}, after layer ${
    levelOf(index)}` },
  svg("rect", { class: "grip", fill: "transparent" }), svg("circle", { class: "face" })));
function choose(index) {
  if (index === null) return;
  layer = levelOf(index);
  word = index % size;
  redraw();
}
roving(vectors, { choose, press: choose, columns: size, start: word });

// ---- drawing ---------------------------------------------------------------------------------

const places = ({ isNarrow }) => isNarrow
  ? { left: 50, across: 350 / size, top: 28, down: 76, r: 10, box: 34, small: "font-size:11px" }
  : { left: 84, across: 716 / size, top: 26, down: 82, r: 13, box: 40, small: "" };

function drawLines({ x, y }) {
  return span(layer).flatMap((below) => span(size).flatMap((query) => span(size).map((key) => {
    if (!isInside(below + 1, query) || !canAttend(query, key)) return null;
    const own = query === key; // with the residual connection
    return svg("line", { x1: x(query), y1: y(below + 1), x2: x(key), y2: y(below), class: "path",
      style: `stroke:var(--blue);opacity:${own ? 0.9 : 0.4};stroke-width:${own ? 3.5 : 1.3}` });
  }))).filter(Boolean);
}

// What of an input word arrives; 0 is hatched.
function drawInput(input, { x, y, across, box, small, isNarrow }) {
  const weight = share(input), isZero = weight === 0, left = x(input) - across / 2 + 1.5;
  const fill = isZero ? "url(#hatch)" : shade(weight);
  const line = input === word ? "stroke:var(--orange);stroke-width:3" : "stroke:var(--quiet)";
  const ink = isZero ? "var(--ink)" : inkOn(weight);
  const at = isNarrow ? `${x(input) + 5} ${y(0) + box / 2 + 8}) rotate(-90`
    : `${x(input)} ${y(0) + box / 2 + 18}`;
  const label = svg("text", { transform: `translate(${at})`,
    "text-anchor": isNarrow ? "end" : "middle",
    style: input === word ? "font-weight:700" : "" }, words[input]);
  return svg("g", {},
    svg("rect", { class: "share", x: left, y: y(0) - box / 2, width: across - 3, height: box,
      rx: 4, style: `fill:${isZero ? "none" : fill};${line}` }),
    ...(isZero ? [svg("rect", { x: left, y: y(0) - box / 2, width: across - 3, height: box,
      fill })] : []),
    svg("text", { x: x(input), y: y(0) + 5, "text-anchor": "middle",
      class: isZero ? "outlined" : "", style: `fill:${ink};${small}` },
    isZero ? "0" : percent(weight)), label);
}

function drawVector(index, { x, y, across, down, r }) {
  const [grip, face] = vectors[index].children, level = levelOf(index), other = index % size;
  const isChosen = level === layer && other === word, inside = isInside(level, other);
  place(vectors[index], x(other), y(level));
  setAttributes(grip, { x: -across / 2, y: -down / 2, width: across, height: down });
  face.setAttribute("r", isChosen ? r + 3 : r);
  const fill = inside ? "var(--blue)" : level > layer ? "var(--paper)" : "url(#hatch)";
  const line = isChosen ? "stroke:var(--orange);stroke-width:5" : "stroke:var(--quiet)";
  face.setAttribute("style", `fill:${fill};${line}`);
  vectors[index].setAttribute("aria-pressed", isChosen);
  vectors[index].setAttribute("tabindex", isChosen ? 0 : -1);
}

function draw(layout) {
  const { left, across, top, down, ...more } = places(layout);
  const x = (column) => left + (column + 0.5) * across, y = (level) => top + (layers - level) * down;
  const where = { x, y, across, down, ...more, isNarrow: layout.isNarrow };
  const rows = span(layers + 1).map((level) => svg("text", { class: "heading", x: 0,
    y: y(level) + 4 }, level ? `layer ${level}` : "input"));
  const caption = svg("text", { class: "heading", x: layout.width - 4, "text-anchor": "end",
    y: layout.height - 8 }, "shares of the influence on the chosen vector");
  under.replaceChildren(...rows, caption, ...drawLines(where),
    ...span(size).map((input) => drawInput(input, where)));
  vectors.forEach((_, index) => drawVector(index, where));
  say(...sentence());
}

// ---- words and controls ----------------------------------------------------------------------

function sentence() {
  const count = span(size).filter((input) => share(input) > 0).length;
  const ranked = span(size).sort((one, other) => share(other) - share(one));
  const [first, second] = ranked.filter((input) => share(input) > 0);
  const each = (input) => [...named(words, input), " ", html("b", {}, percent(share(input)))];
  const most = second === undefined ? ["All of the influence is its own."]
    : ["The largest shares: ", ...each(first), ", ", ...each(second), "."];
  const far = layer * neighbors, further = neighbors === 1 ? "1 word" : `${neighbors} words`;
  const all = layer === 1 ? "one layer reaches" : `${layer} layers reach`;
  const reach = neighbors === 0 ? "A word that attends only to itself depends on no other word."
    : neighbors === last ? "One layer reaches all words."
    : `Each layer reaches ${further} further to each side: ${all} ${
      far < last ? far : "the whole sentence"}.`;
  return [`After layer ${layer}, `, ...named(words, word), " depends on ",
    html("b", {}, `${count} of ${size} words`), ". ", ...most, ` ${reach}`];
}

controls.append(slider({
  label: "neighbors on each side to which a word attends", min: 0, max: last, value: neighbors,
  show: (value) => (value === last ? "all words" : String(value)),
  change: (to) => ((neighbors = to), redraw()),
}));
const { picture: drawn, redraw } = picture({
  label: "The vectors of a sentence, layer by layer", wide: [800, 82 * layers + 98],
  narrow: [400, 76 * layers + 140], draw,
});
drawn.append(under, ...vectors);
redraw();
