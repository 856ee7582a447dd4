// A tiny Transformer learns to write digits in reverse, with settings that the reader chooses.

const DIGITS = 5, SHOWN = 6; // of a number; the numbers in the picture
const SLICE = 12; // milliseconds of training before the page has its turn
const EVALUATED = 20, TOLD = 100; // after every so many steps
const MEAN = 5; // steps in a point of a curve
const LOOKS = [["--blue", "none"], ["--orange", "9 5"], ["--purple", "2 4"]]; // color, dashes
const chosen = { ...data.first };
const kept = []; // the last trainings, the newest first
let nextSeed = 1, count = 0, isTraining = false, frame;

// ---- the task and the training ------------------------------------------------------------------

const randomDigits = (luck) => span(DIGITS).map(() => Math.floor(10 * luck()));
const luckOfTest = luckOf(0);
const test = span(data.test).map(() => randomDigits(luckOfTest));
const areInTest = new Set(test.map((digits) => digits.join("")));

function batchOf(luck, size) {
  const ids = [], labels = [];
  while (ids.length < 2 * DIGITS * size) {
    const digits = randomDigits(luck), reversed = [...digits].reverse();
    if (areInTest.has(digits.join(""))) continue;
    ids.push(...digits, ARROW, ...reversed.slice(0, -1));
    labels.push(...reversed);
  }
  return [ids, labels];
}

class Training {
  constructor(settings) {
    this.settings = settings;
    this.luck = luckOf(settings.seed);
    this.model = new Transformer({ ...data.model, digits: DIGITS, luck: this.luck });
    this.look = LOOKS[count++ % LOOKS.length];
    this.losses = [];
    this.evaluate();
  }

  get isFinished() {
    return this.losses.length === data.steps;
  }

  step() {
    this.losses.push(this.model.loss(...batchOf(this.luck, this.settings.batch)));
    this.model.update(rateAt(this.losses.length, this.settings));
    if (this.losses.length % EVALUATED === 0) this.evaluate();
  }

  evaluate() {
    this.written = this.model.write(test);
    this.correct = this.written.filter((digits, at) =>
      digits.every((digit, i) => digit === test[at].at(-1 - i))).length;
  }

  // The mean loss of every few steps.
  get curve() {
    return span(Math.floor(this.losses.length / MEAN)).map((at) => [MEAN * (at + 1),
      this.losses.slice(MEAN * at, MEAN * (at + 1)).reduce((a, b) => a + b) / MEAN]);
  }
}

const rateAt = (step, { rate, warmUp }) => rate * Math.min(1, step / Math.max(warmUp, 1));

// A few steps, then the page has its turn.
function train() {
  const [training] = kept, until = performance.now() + SLICE;
  while (isTraining && performance.now() < until) {
    training.step();
    if (training.isFinished) stop();
    else if (training.losses.length % TOLD === 0) tell();
  }
  if (!isTraining) return;
  redraw();
  frame = requestAnimationFrame(train);
}

function start() {
  if (isTraining) stop();
  kept.unshift(new Training({ ...chosen, seed: nextSeed }));
  kept.splice(LOOKS.length);
  isTraining = true;
  toggleButton.textContent = "Stop";
  tell();
  train();
}

function stop() {
  isTraining = false;
  cancelAnimationFrame(frame);
  kept[0].evaluate(); // its steps may have ended between two evaluations
  toggleButton.textContent = "Start";
  tell();
  redraw();
}

// ---- what is said and drawn ---------------------------------------------------------------------

// What is chosen for the next training has no seed yet.
const described = ({ rate, warmUp, batch, seed }) => `rate ${rate}, ${warmUp
  ? `warm-up ${warmUp}` : "no warm-up"}, batch ${batch}${seed ? `, seed ${seed}` : ""}`;
const scoreOf = ({ correct }) => `${correct} of ${test.length}`;

function tell() {
  const [training] = kept;
  if (!training) {
    return say("A Transformer with ", bold(weights.toLocaleString("en")), " weights will learn to ",
      "write five digits in reverse. ",
      `Next: ${described(chosen)}, ${data.steps} steps. Press Start.`);
  }
  const { settings, losses } = training, loss = training.curve.at(-1)?.[1];
  say(isTraining ? "Training: " : "Trained: ", bold(`${losses.length} of ${data.steps} steps`),
    ` with ${described(settings)}. `,
    ...(loss === undefined ? [] : ["The loss is ", bold(fixed(loss)), ". "]),
    ...(!isTraining && kept.length > 1 ? comparison()
      : ["Of numbers that it has never seen, it writes ", bold(scoreOf(training)),
        " in reverse without a mistake."]));
}

const comparedOf = ({ settings: { rate, warmUp, batch, seed }, losses }) =>
  ({ rate, "warm-up": warmUp, batch, seed, steps: losses.length });

// One sentence: what the newest training changed, and what came of it.
function comparison() {
  const [newest, before] = kept, now = comparedOf(newest), then = comparedOf(before);
  const names = Object.keys(now).filter((name) => now[name] !== then[name]);
  const changes = names.length > 2 ? `${names.length} changes (${names.join(", ")})`
    : names.map((name) => `${name} ${now[name]} instead of ${then[name]}`).join(", ")
      || "the same again";
  return [`${changes[0].toUpperCase()}${changes.slice(1)}: `, bold(scoreOf(newest)),
    " unseen numbers correct",
    ...(newest.correct === before.correct ? [", as before."]
      : [" instead of ", bold(before.correct), "."])];
}

const line = (d, style) => svg("path", { d, style: `fill:none;${style}` });
const styleOf = ([color, dashes]) =>
  `stroke:var(${color});stroke-width:2.2;stroke-dasharray:${dashes}`;

function drawCurves(left, top, wide, high) {
  const x = scale([0, data.steps], [left, left + wide]), y = scale([0, 3], [top + high, top]);
  const equal = Math.log(10);
  const axes = [0, 1, 2, 3].flatMap((loss) => [
    line(`M${left} ${y(loss)}h${wide}`, "stroke:var(--pale)"),
    heading(left - 6, y(loss) + 4, "end", loss)]);
  const steps = span(5).map((at) => heading(x(at * data.steps / 4), top + high + 16, "middle",
    at * data.steps / 4));
  const curves = [...kept].reverse().filter(({ curve }) => curve.length).map(({ curve, look }) =>
    line(`M${curve.map(([step, loss]) => [x(step), y(Math.min(loss, 3))]).join("L")}`,
      styleOf(look)));
  return [heading(left, top - 8, "start", "loss (nats per digit)"), ...axes, ...steps,
    heading(left + wide, top + high + 32, "end", "training step"),
    line(`M${left} ${y(equal)}h${wide}`, "stroke:var(--quiet);stroke-dasharray:4 3"), ...curves,
    heading(left + wide + 6, y(equal) + 4, "start", "ln 10")];
}

function drawNames(left, top, put) {
  return kept.flatMap((training, row) => {
    const y = top + 22 * row;
    return [line(`M${left} ${y - 5}h30`, styleOf(training.look)),
      put(left + 38, y, "start", `${described(training.settings)}: ${scoreOf(training)}`)];
  });
}

function drawWritten(left, top) {
  const written = kept[0]?.written ?? [], cell = 20;
  const digitsAt = (digits, from, y, isRight = () => true) => digits.flatMap((digit, i) => {
    const x = from + cell * i, fill = isRight(digit, i) ? "--ink" : "--orange";
    return [write(x, y, "middle", digit, { style: `fill:var(${fill})` }),
      ...(isRight(digit, i) ? [] : [line(`M${x - 8} ${y - 15}h16v20h-16z`,
        "stroke:var(--orange);stroke-width:1.5")])];
  });
  return [heading(left, top, "start", "it reads"), heading(left + 150, top, "start", "it writes"),
    ...test.slice(0, SHOWN).flatMap((digits, row) => {
      const y = top + 28 + 28 * row;
      return [...digitsAt(digits, left + 8, y), write(left + 122, y, "middle", "→"),
        ...digitsAt(written[row] ?? [], left + 158, y, (digit, i) => digit === digits.at(-1 - i))];
    }),
    heading(left, top + 28 * (SHOWN + 1) + 8, "start", "Wrong digits have a frame.")];
}

// The rate of every step of the next training, from 0 to its highest, which is written.
function drawRate(left, top, wide, high) {
  const x = scale([0, data.steps], [left, left + wide]), bottom = top + high, { warmUp } = chosen;
  return [heading(left, top - 38, "start", "the next training’s"),
    heading(left, top - 22, "start", "learning rate"),
    line(`M${left} ${bottom}h${wide}`, "stroke:var(--rule)"),
    line(`M${left} ${bottom}L${x(warmUp)} ${top}H${left + wide}`,
      "stroke:var(--ink);stroke-width:2"),
    heading(left + wide, top - 5, "end", chosen.rate),
    ...(warmUp ? [heading(x(warmUp), bottom + 16, "middle", `step ${warmUp}`)] : [])];
}

function paint({ isNarrow, picture: drawn }) {
  drawn.replaceChildren(...(isNarrow
    ? [...drawCurves(22, 22, 336, 180), ...drawNames(4, 256, heading), ...drawWritten(4, 334),
      ...drawRate(280, 400, 112, 60)]
    : [...drawCurves(30, 24, 430, 250), ...drawNames(30, 340, write), ...drawWritten(530, 16),
      ...drawRate(530, 310, 250, 50)]));
}

const sliderOf = (label, name, values) => slider({ label, min: 0, max: values.length - 1,
  value: values.indexOf(chosen[name]), show: (at) => String(values[at]),
  change: (at) => {
    chosen[name] = values[at];
    redraw();
    if (!isTraining) say("Next: ", bold(described(chosen)), ". Press Start.");
  } });
const toggleButton = button({ label: "Start", press: () => (isTraining ? stop() : start()) });
controls.append(
  sliderOf("highest rate", "rate", data.rates),
  sliderOf("warm-up steps", "warmUp", data.warmUps),
  sliderOf("batch size", "batch", data.batches),
  toggleButton,
  button({ label: "New seed", press: () => ((nextSeed += 1), start()) }));
const { parameters } = new Transformer({ ...data.model, digits: DIGITS, luck: luckOf(0) });
const weights = parameters.reduce((sum, { value }) => sum + value.length, 0);
const { redraw } = picture({
  label: "Loss curves of trainings, and what the newest model writes",
  wide: [800, 390], narrow: [400, 550], draw: paint,
});
redraw();
tell();
