// Five features in two numbers: a tiny model, trained here whenever the reader changes something.

const FEATURES = 5, STEPS = 1500, BATCH = 256, RATE = 0.01;
const importance = span(FEATURES).map((feature) => 0.8 ** feature);
let at = data.first, seed = 0, trained;

const normal = (luck) => Math.sqrt(-2 * Math.log(1 - luck())) * Math.cos(2 * Math.PI * luck());

// The lesson's loop. weights: x of every direction, y of every direction, every bias.
function train(presence) {
  const luck = luckOf(seed), count = 3 * FEATURES;
  const weights = span(count).map((i) => (i < 2 * FEATURES ? 0.3 * normal(luck) : 0));
  const mean = new Float64Array(count), square = new Float64Array(count);
  let loss = 0;
  for (let step = 1; step <= STEPS; step++) {
    const gradient = new Float64Array(count);
    loss = 0;
    for (let example = 0; example < BATCH; example++)
      loss += addGradient(gradient, weights, span(FEATURES).map(() =>
        (luck() < presence ? luck() : 0))) / (BATCH * FEATURES);
    for (let i = 0; i < count; i++) { // Adam
      const slope = gradient[i] / (BATCH * FEATURES);
      mean[i] = 0.9 * mean[i] + 0.1 * slope;
      square[i] = 0.999 * square[i] + 0.001 * slope * slope;
      weights[i] -= RATE * mean[i] / (1 - 0.9 ** step)
        / (Math.sqrt(square[i] / (1 - 0.999 ** step)) + 1e-8);
    }
  }
  const directions = span(FEATURES).map((i) => [weights[i], weights[FEATURES + i]]);
  return { directions, lengths: directions.map(([x, y]) => Math.hypot(x, y)), loss };
}

// Adds the gradient of one example's loss, and returns the loss.
function addGradient(gradient, weights, x) {
  let h0 = 0, h1 = 0, back0 = 0, back1 = 0, loss = 0;
  for (let i = 0; i < FEATURES; i++) {
    h0 += weights[i] * x[i];
    h1 += weights[FEATURES + i] * x[i];
  }
  for (let i = 0; i < FEATURES; i++) {
    const w0 = weights[i], w1 = weights[FEATURES + i];
    const before = w0 * h0 + w1 * h1 + weights[2 * FEATURES + i];
    const error = Math.max(before, 0) - x[i];
    loss += importance[i] * error * error;
    if (before <= 0) continue; // the ReLU lets nothing back
    const slope = 2 * importance[i] * error;
    gradient[2 * FEATURES + i] += slope;
    gradient[i] += slope * h0;
    gradient[FEATURES + i] += slope * h1;
    back0 += slope * w0;
    back1 += slope * w1;
  }
  for (let i = 0; i < FEATURES; i++) {
    gradient[i] += back0 * x[i];
    gradient[FEATURES + i] += back1 * x[i];
  }
  return loss;
}

const under = svg("g");
const line = (d, style) => svg("path", { d, style: `fill:none;${style}` });
const isKept = (i) => trained.lengths[i] > data.kept;
const inkOf = (i) => `var(--${isKept(i) ? "blue" : "quiet"})`;

function drawPlane(left, top, size) {
  const middle = [left + size / 2, top + size / 2], unit = size / 3.1;
  const cross = line(`M${left} ${middle[1]}h${size}M${middle[0]} ${top}v${size}`,
    "stroke:var(--pale)");
  const circle = svg("circle", { cx: middle[0], cy: middle[1], r: unit,
    style: "fill:none;stroke:var(--rule);stroke-dasharray:3 4" });
  const arrows = trained.directions.flatMap(([x, y], i) => {
    const to = [middle[0] + unit * x, middle[1] - unit * y], length = trained.lengths[i];
    const name = [x, -y].map((part, axis) =>
      middle[axis] + (unit * part * (length + 0.2)) / length);
    return [line(`M${middle}L${to}`, `stroke:${inkOf(i)};stroke-width:3`),
      svg("circle", { cx: to[0], cy: to[1], r: 4.5, style: `fill:${inkOf(i)}` }),
      ...(isKept(i) ? [write(name[0], name[1] + 5, "middle", i + 1)] : [])];
  });
  return [cross, circle, ...arrows];
}

function drawLengths(left, top, wide) {
  const x = scale([0, 1.5], [left, left + wide]), row = 34;
  const bars = trained.lengths.flatMap((length, i) => [
    heading(left - 8, top + i * row + 17, "end", `feature ${i + 1}`),
    svg("rect", { x: left, y: top + i * row + 2, width: Math.max(x(Math.min(length, 1.5)) - left, 1),
      height: 20, style: `fill:${inkOf(i)}` })]);
  return [heading(left, top - 10, "start", "length of its direction"), ...bars,
    line(`M${x(data.kept)} ${top - 4}v${FEATURES * row}`,
      "stroke:var(--ink);stroke-width:1.5;stroke-dasharray:4 3"),
    heading(x(data.kept), top + FEATURES * row + 14, "middle", `kept: above ${data.kept}`)];
}

function draw({ isNarrow }) {
  under.replaceChildren(...(isNarrow
    ? [...drawPlane(55, 0, 290), ...drawLengths(90, 326, 280)]
    : [...drawPlane(20, 0, 340), ...drawLengths(480, 90, 290)]));
  const kept = span(FEATURES).filter(isKept);
  say("Each feature is present in ", bold(percent(data.presences[at])), " of the cases: ",
    bold(kept.length), ` of ${FEATURES} are kept (${kept.map((i) => i + 1).join(", ") || "none"}), `,
    `and the loss is ${fixed(trained.loss, 4)}. Trained just now, `,
    `${STEPS.toLocaleString("en")} steps from start ${seed + 1}.`);
}

const again = () => ((trained = train(data.presences[at])), redraw());
controls.append(
  slider({ label: "each feature is present in", min: 0, max: data.presences.length - 1, value: at,
    show: (index) => percent(data.presences[index]), change: (to) => ((at = to), again()) }),
  button({ label: "Train from another start", press: () => ((seed += 1), again()) }));
trained = train(data.presences[at]);
const { picture: drawn, redraw } = picture({
  label: "Five directions in a plane, and their lengths",
  wide: [800, 350], narrow: [400, 530], draw,
});
drawn.append(under);
redraw();
