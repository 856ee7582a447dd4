// A mask that can be clicked: the scores that it leaves, and the weights of every row.

const { words, scores, masks, ways } = data;
const size = words.length, all = span(size * size), names = Object.keys(masks);
const row = (index) => Math.floor(index / size), column = (index) => index % size;
let mask, isInverted = false, way = Object.keys(ways)[0], chosen = Math.floor(size / 3) * size;
const start = (name) => (mask = [...masks[name]]);
const allowed = (index) => mask[index] !== isInverted; // inverted: True means hidden

// The weights of a row: NaN where no key is allowed and the softmax divides 0 by 0.
function weightsOf(query) {
  const cells = span(size).map((key) => query * size + key);
  if (cells.some(allowed))
    return softmax(cells.map((each) => (allowed(each) ? scores[query][column(each)] : -Infinity)));
  const empty = { "minus infinity": NaN, "most negative": 1 / size, "then zero": 0 }[way];
  return cells.map(() => empty);
}

// ---- drawing ---------------------------------------------------------------------------------

const under = svg("g");
const mark = svg("rect", { style: "fill:none;stroke:var(--orange);pointer-events:none" });
const cells = all.map(() => svg("g", { role: "button" },
  svg("rect", { class: "cell face" }), svg("text", { "text-anchor": "middle" })));

// Left edge, top edge, width and height of a cell, of the scores and of the weights.
function places({ isNarrow }) {
  const side = (isNarrow ? 300 : 298) / size, down = isNarrow ? 190 / size : side;
  return isNarrow ? [[74, 80, side, down], [74, 358, side, down]]
    : [[70, 80, side, down], [476, 80, side, down]];
}

function frame([left, top, side, down], title) {
  const rows = words.map((word, i) => write(left - 6, top + down * (i + 0.5) + 5, "end", word));
  const columns = words.map((word, i) => svg("text", {
    transform: `translate(${left + side * (i + 0.5) + 4} ${top - 6}) rotate(-45)` }, word));
  return [heading(left - 66, top - 64, "start", title), ...rows, ...columns];
}

function drawScores([left, top, side, down]) {
  for (const [index, cell] of cells.entries()) {
    const [x, y] = [left + side * column(index), top + down * row(index)], [box, text] = cell.children;
    setAttributes(box, { x, y, width: side - 2, height: down - 2 });
    box.style.fill = allowed(index) ? "var(--blue)" : "url(#hatch)";
    setAttributes(text, { x: x + side / 2 - 1, y: y + down / 2 + 4 });
    text.style.fill = allowed(index) ? "var(--on-blue)" : "var(--ink)";
    text.classList.toggle("outlined", !allowed(index));
    text.textContent = allowed(index) ? fixed(scores[row(index)][column(index)], 0) : "−∞";
    const weight = weightsOf(row(index))[column(index)];
    const name = `query ${words[row(index)]}, key ${words[column(index)]}`;
    setAttributes(cell, { "aria-pressed": allowed(index), "aria-label": `${index + 1}: ${name}, score ${
      text.textContent}, weight ${Number.isNaN(weight) ? "NaN" : percent(weight)}` });
  }
}

function drawWeights([left, top, side, down]) {
  return all.flatMap((index) => {
    const [x, y] = [left + side * column(index), top + down * row(index)];
    const weight = weightsOf(row(index))[column(index)], isZero = !weight && !Number.isNaN(weight);
    const [fill, ink, said] = Number.isNaN(weight) ? ["var(--orange)", "var(--paper)", "NaN"]
      : isZero ? ["url(#hatch)", "none", ""] : [shade(weight), inkOn(weight), fixed(weight)];
    return [svg("rect", { x, y, width: side - 2, height: down - 2, fill }),
      write(x + side / 2 - 1, y + down / 2 + 4, "middle", said, { style: `fill:${ink}` })];
  });
}

function draw(layout) {
  const [left, right] = places(layout);
  drawScores(left);
  under.replaceChildren(
    ...frame(left, "scores after the mask: click a cell"),
    ...frame(right, "attention weights: the softmax of each row"), ...drawWeights(right));
  const [x, y, side, down] = left;
  setAttributes(mark, { x: x - 2, y: y + down * row(chosen) - 2, width: side * size + 2,
    height: down + 2, "stroke-width": 3 });
  say(...sentence());
}

// ---- words and controls ----------------------------------------------------------------------

function sentence() {
  const query = row(chosen), weights = weightsOf(query), who = named(words, query);
  const keys = span(size).filter((key) => allowed(query * size + key));
  if (!keys.length)
    return ["The row ", ...who, " may attend to nothing. ", ways[way].empty];
  const list = listed(words, keys, (key) => percent(weights[key]));
  return ["The row ", ...who, " attends to ", ...list,
    `. ${all.filter(allowed).length} of ${all.length} cells are allowed.`];
}

function choose(index) {
  if (index !== null) chosen = index;
  redraw();
}

function press(index) {
  mask[index] = !mask[index];
  chosen = index;
  ready.set(null); // the mask is the reader's own now
  redraw();
}

const ready = choices({ label: "mask", name: "mask", options: names, value: names.at(-1),
  change: (to) => (start(to), redraw()) });
controls.append(ready,
  choices({ label: "a hidden score becomes", name: "way", value: way,
    options: Object.entries(ways).map(([name, { label }]) => [name, [label], label]),
    change: (to) => ((way = to), redraw()) }),
  toggle({ label: "invert the mask", value: isInverted,
    change: (to) => ((isInverted = to), redraw()) }),
);
start(names.at(-1));
const { picture: drawn, redraw } = picture({
  label: "Scores after the mask, and weights", wide: [800, 384], narrow: [400, 554], draw,
});
drawn.append(under, ...cells, mark);
roving(cells, { choose, press, columns: size, start: chosen });
redraw();
