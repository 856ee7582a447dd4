// A model that learns to copy, step by step: curves, and the maps of two heads of the same text.

const { words, steps, curves, maps } = data; // weights[step][query][key] in percent
const size = words.length, last = steps[steps.length - 1];
const colors = ["var(--blue)", "var(--orange)", "var(--green)"];
const dashes = ["none", "7 3", "2 3"];
const lineOf = (i) => `stroke:${colors[i]};stroke-width:2.5;stroke-dasharray:${dashes[i]}`;
let at = data.first;

const under = svg("g");
const places = ({ isNarrow }) => isNarrow
  ? { chart: { x: 46, y: 26, wide: 334, high: 150 }, cell: 13.4, label: 37,
    at: [[0, 284], [200, 284]] }
  : { chart: { x: 46, y: 30, wide: 244, high: 268 }, cell: 16, label: 44,
    at: [[308, 30], [558, 30]] };

function drawChart({ x: left, y: top, wide, high }) {
  const x = scale([0, last], [left, left + wide]), y = scale([0, 1], [top + high, top]);
  const grid = [0, 0.5, 1].flatMap((each) => [
    trace(`M${left} ${y(each)}h${wide}`, `stroke:var(--${each ? "pale" : "rule"})`),
    heading(left - 6, y(each) + 4, "end", percent(each))]);
  const ticks = [0, last / 2, last].map((each) => heading(x(each), top + high + 18,
    each === last ? "end" : "middle", each === last ? `step ${last}` : each));
  const lines = curves.flatMap(({ values }, i) => [
    trace(`M${values.map((value, n) => `${x(steps[n])} ${y(value)}`).join("L")}`, lineOf(i)),
    svg("circle", { cx: x(steps[at]), cy: y(values[at]), r: 5, style: `fill:${colors[i]}` })]);
  const legend = curves.flatMap(({ name }, i) => [
    trace(`M${left} ${top + high + 36 + 19 * i}h22`, lineOf(i)),
    heading(left + 28, top + high + 40 + 19 * i, "start", name)]);
  return [...grid, ...ticks, ...lines, ...legend,
    trace(`M${x(steps[at])} ${top}v${high}`, "stroke:var(--quiet);stroke-dasharray:3 4")];
}

function drawMap({ name, role, weights }, [left, top], { cell, label, isNarrow }) {
  const small = isNarrow ? "font-size:11px" : "font-size:12px", x0 = left + label, y0 = top + 14;
  const cells = weights[at].flatMap((row, query) => row.slice(0, query + 1).map((weight, key) =>
    svg("rect", { x: x0 + key * cell, y: y0 + query * cell, width: cell - 1, height: cell - 1,
      style: `fill:${shade(weight / 100)}` })));
  const marks = role.map(([query, key]) => svg("rect", { x: x0 + key * cell, y: y0 + query * cell,
    width: cell - 1, height: cell - 1, style: "fill:none;stroke:var(--orange);stroke-width:1.8" }));
  const hidden = trace(`M${x0 + cell} ${y0}${span(size - 1).map((i) =>
    `M${x0 + (i + 1) * cell} ${y0 + i * cell}H${x0 + size * cell}v${cell}H${x0 + (i + 1) * cell}z`)
    .join("")}`, "fill:url(#hatch)");
  const rows = words.map((word, i) => svg("text", { x: x0 - 4, y: y0 + (i + 0.78) * cell,
    "text-anchor": "end", class: "heading", style: small }, word));
  const columns = words.map((word, i) => svg("text", { class: "heading", style: small,
    "text-anchor": "end",
    transform: `translate(${x0 + (i + 0.75) * cell} ${y0 + size * cell + 6}) rotate(-90)` }, word));
  return [heading(x0, top + 4, "start", name), ...cells, hidden, ...marks, ...rows, ...columns];
}

function draw(layout) {
  const { chart, at: corners, ...sizes } = places(layout);
  under.replaceChildren(...drawChart(chart), ...maps.flatMap((map, i) =>
    drawMap(map, corners[i], { ...sizes, isNarrow: layout.isNarrow })));
  say(...sentence());
}

function sentence() {
  const [right, before, after] = curves.map(({ values }) => bold(percent(values[at])));
  return [`After ${steps[at]} steps, `, right, " of the words that come again are right (loss ",
    `${fixed(data.losses[at])}). Layer 1 gives `, before, " to the word before, layer 2 ", after,
    " to words after an earlier one (framed)."];
}

controls.append(slider({ label: "training step", min: 0, max: steps.length - 1, value: at,
  show: (index) => String(steps[index]), change: (to) => ((at = to), redraw()) }));
const { picture: drawn, redraw } = picture({
  label: "How a model learns to copy: curves, and the maps of two heads",
  wide: [800, 400], narrow: [400, 516], draw,
});
drawn.append(under);
redraw();
