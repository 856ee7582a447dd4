// A patient and its sheet: curves of a stored run, what it wrote, and a diagnosis to be guessed.

const { patients, steps, diagnoses } = data;
const names = Object.keys(diagnoses), MEASURES = ["loss", "tokens right", "exact match"];
let shown = 0, guess = null, reached = steps.length - 1;
const right = new Set(), asked = new Set();

// ---- drawing ---------------------------------------------------------------------------------

const under = svg("g");
const STYLES = {
  "loss": ["var(--ink)", ""], "tokens right": ["var(--orange)", "6 4"],
  "exact match": ["var(--blue)", ""],
};

// The loss on one side, the two fractions on the other: [left, top, width, height] of each.
const places = ({ isNarrow }) => isNarrow
  ? { loss: [42, 30, 340, 150], parts: [42, 234, 340, 150], text: [10, 440] }
  : { loss: [42, 30, 330, 180], parts: [450, 30, 330, 180], text: [10, 268] };

function drawPanel([left, top, width, height], title, most, curves) {
  const x = scale([0, steps.at(-1)], [left, left + width]);
  const y = scale([0, most], [top + height, top]);
  const ticks = [0, most / 2, most].flatMap((value) => [
    svg("path", { d: `M${left} ${y(value)}h${width}`, style: "stroke:var(--pale)" }),
    heading(left - 6, y(value) + 4, "end", fixed(value, 1)),
  ]);
  const lines = curves.map(([name, values]) => {
    const points = values.slice(0, reached + 1).map((value, i) => `${x(steps[i])},${y(value)}`);
    const [color, dashes] = STYLES[name];
    return svg("polyline", { points: points.join(" "), fill: "none", "stroke-dasharray": dashes,
      style: `stroke:${color};stroke-width:2.5` });
  });
  const now = `M${x(steps[reached])} ${top}v${height}`;
  return [heading(left - 30, top - 14, "start", title), ...ticks, ...lines,
    svg("path", { d: now, style: "stroke:var(--quiet);stroke-dasharray:2 4" }),
    heading(left + width, top + height + 16, "end", `step ${steps.at(-1)}`)];
}

function drawWords([left, top], isNarrow) {
  const { target, written } = patients[shown], room = isNarrow ? 27 : 34;
  return [["should be", target], ["writes", written]].flatMap(([name, tokens], line) => [
    heading(left, top + 30 * line, "start", name),
    ...tokens.slice(0, target.length + 3).map((token, i) =>
      write(left + 76 + room * (i + 0.5), top + 30 * line, "middle", token)),
  ]);
}

function draw(layout) {
  const { loss, parts, text } = places(layout), { curves } = patients[shown];
  under.replaceChildren(
    ...drawPanel(loss, "loss", data.highest, [["loss", curves.loss]]),
    ...drawPanel(parts, "fraction right: tokens (dashed), whole answers (solid)", 1,
      MEASURES.slice(1).map((name) => [name, curves[name]])),
    ...drawWords(text, layout.isNarrow));
  say(...sentence());
}

// ---- words and controls ----------------------------------------------------------------------

function sentence() {
  const { curves, name, target, written } = patients[shown];
  const whole = (tokens) => (tokens.length ? `“${tokens.join(" ")}”` : "nothing");
  const [loss, tokens, exact] = MEASURES.map((each) => fixed(curves[each][reached]));
  if (guess === null)
    return [`Patient ${shown + 1} of ${patients.length}, step ${steps[reached]}: loss `,
      bold(loss), ", tokens right ", bold(tokens), ", exact match ", bold(exact),
      `. Trained, it should write ${whole(target)} and writes ${whole(written)}. `,
      "What does it have?"];
  const verdict = guess === name ? "Yes: " : `Not ${guess}. It is `;
  return [verdict, bold(name), `. ${diagnoses[name]} You have found ${right.size} of ${
    asked.size} at the first attempt.`];
}

function diagnose(name) {
  if (!asked.has(shown) && name === patients[shown].name) right.add(shown);
  asked.add(shown);
  guess = name;
  redraw();
}

function admit(index) {
  shown = (index + patients.length) % patients.length;
  guess = null;
  diagnosis.set(null);
  redraw();
}

const diagnosis = choices({ label: "your diagnosis", name: "diagnosis", options: names,
  value: null, change: diagnose });
controls.append(diagnosis,
  slider({ label: "up to step", min: 0, max: steps.length - 1, value: reached,
    show: (index) => String(steps[index]), change: (to) => ((reached = to), redraw()) }),
  button({ label: "Next patient", press: () => admit(shown + 1) }));
const { picture: drawn, redraw } = picture({
  label: "A patient's curves and what it writes", wide: [800, 314], narrow: [400, 490], draw,
});
drawn.append(under);
redraw();
