// One weight w on the curve of its loss (w − best)²: the slope says which way, and the learning rate
// how far. A button takes a step; the steps that were taken stay in the picture.

const { best, first, least, most, rates } = data;
const loss = (w) => (w - best) ** 2, slope = (w) => 2 * (w - best);
let w = first, rate = data.rate, steps = []; // the weights before w

const under = svg("g");
let x = null, y = null; // scales, in the layout of now
const setW = (to) => (w = clamp(Number(to.toFixed(2)), least, most), steps = [], redraw());
const ball = draggable(
  svg("g", {}, svg("circle", { class: "grip", r: 22 }),
    svg("circle", { r: 9, fill: "var(--orange)" }),
    svg("text", { class: "outlined", y: -16 })),
  { label: "weight w", range: () => [least, most, w], value: () => `${fixed(w)}, loss ${fixed(loss(w))}`,
    drag: (at) => setW(x.back(at.x)), nudge: (dx, dy) => setW(w + 0.1 * (dx + dy)) });

function step() {
  const next = w - rate * slope(w);
  if (next < least || next > most) return say(...leaves(next));
  steps.push(w);
  w = next;
  redraw();
}

// ---- drawing ----------------------------------------------------------------------------------


function drawAxes({ width, height }) {
  const ticks = span(most - least + 1).map((i) => least + i).flatMap((each) => [
    trace(`M${x(each)} ${y(0)}v6`, "stroke:var(--quiet)"),
    heading(x(each), y(0) + 20, "middle", fixed(each, 0))]);
  const lines = [0, 5, 10, 15].flatMap((each) => [
    trace(`M${x(least)} ${y(each)}H${x(most)}`, `stroke:var(--${each ? "pale" : "rule"})`),
    heading(x(least) - 8, y(each) + 4, "end", each)]);
  return [...lines, ...ticks, heading(x(least), y(16) - 12, "start", "loss"),
    heading((x(least) + x(most)) / 2, height - 6, "middle", "weight w")];
}

// The tangent, as long as its end stays in the picture, and the step as an arrow on the axis.
function drawStep() {
  const g = slope(w), next = clamp(w - rate * g, least, most);
  const reach = 1.2 / Math.hypot(1, g / 4);
  const ends = [-reach, reach].map((dw) => `${x(w + dw)} ${y(loss(w) + g * dw)}`);
  const arrow = Math.abs(x(next) - x(w)) > 8
    ? [trace(`M${x(w)} ${y(0)}H${x(next)}`, "stroke:var(--green);stroke-width:4"),
      trace(`M${x(next)} ${y(0)}l${next < w ? 9 : -9} -7m0 14l${next < w ? -9 : 9} -7`,
        "stroke:var(--green);stroke-width:3")] : [];
  return [trace(`M${ends.join("L")}`, "stroke:var(--orange);stroke-width:3"),
    trace(`M${x(w)} ${y(loss(w))}V${y(0)}`, "stroke:var(--orange);stroke-dasharray:3 4"), ...arrow];
}

function draw(layout) {
  x = scale([least, most], [44, layout.width - 20]);
  y = scale([0, 16], [layout.height - 52, 36]);
  const curve = span(121).map((i) => least + (i * (most - least)) / 120)
    .filter((each) => loss(each) <= 16).map((each) => `${x(each)} ${y(loss(each))}`);
  const trail = [...steps, w].map((each) => `${x(each)} ${y(loss(each))}`);
  under.replaceChildren(...drawAxes(layout),
    trace(`M${curve.join("L")}`, "stroke:var(--blue);stroke-width:2.5"),
    trace(`M${trail.join("L")}`, "stroke:var(--quiet);stroke-width:1.5"),
    ...steps.map((each) => svg("circle", { cx: x(each), cy: y(loss(each)), r: 5,
      fill: "var(--quiet)" })), ...drawStep());
  place(ball, x(w), y(loss(w)));
  const isRight = w > best; // the word stands inside the curve
  ball.lastChild.textContent = `w = ${fixed(w)}`;
  setAttributes(ball.lastChild, { x: isRight ? -8 : 8, "text-anchor": isRight ? "end" : "start" });
  say(...sentence());
}

// ---- words and controls -----------------------------------------------------------------------

function sentence() {
  const g = slope(w), count = steps.length;
  const taken = count ? [`After ${count} ${count > 1 ? "steps" : "step"}: `] : [];
  const here = [`${count ? "t" : "T"}he loss is `, bold(fixed(loss(w))), ", the slope ", bold(fixed(g)), ". "];
  const move = Math.abs(g) < 0.005 ? ["The slope is 0: w stays where it is."]
    : [`The next step is −${rate} · ${g < 0 ? `(${fixed(g)})` : fixed(g)}: w moves by `,
      bold(fixed(-rate * g)), "."];
  return [...taken, ...here, ...move];
}
const leaves = (next) => ["The step would lead to w = ", bold(fixed(next)),
  ", out of the picture: the learning rate is too large, and the loss grows with every step."];

controls.append(
  choices({ label: "learning rate", options: rates.map((each) => [each, [String(each)], `${each}`]),
    value: rate, name: "rate", change: (to) => ((rate = to), redraw()) }),
  button({ label: "Take a step", press: step }),
  button({ label: "Back to the start", press: () => setW(first) }));
const { picture: shown, redraw } = picture({
  label: "The loss for each value of the weight, and the slope where it is now",
  wide: [800, 400], narrow: [400, 360], draw,
});
shown.append(under, ball);
redraw();
