// A patient: four changes, which answers moved after each, and a diagnosis. A hint comes first.

const { patients, found, changes, diagnoses } = data;
const names = Object.keys(diagnoses), asked = Object.keys(changes);
let shown = 0, guess = null, isTold = false;
const right = new Set(), tried = new Set();

// ---- drawing ---------------------------------------------------------------------------------

const under = svg("g");
const seenOf = (name, change) => found[name][change];
const count = (seen) => seen.filter(Boolean).length;

// Left and top of a change's words, left and top of its squares, and their side.
const places = ({ isNarrow }, row) => isNarrow
  ? [8, 46 + 82 * row, 8, 56 + 82 * row, 40] : [8, 56 + 50 * row, 400, 32 + 50 * row, 38];

function drawChange(change, row, layout) {
  const [x, y, left, top, side] = places(layout, row), seen = seenOf(patients[shown], change);
  const squares = seen.flatMap((moved, i) => [
    svg("rect", { x: left + (side + 8) * i, y: top, width: side, height: side, "stroke-width": 1.5,
      style: `fill:${moved ? "var(--orange)" : "none"};stroke:var(--quiet)` }),
    write(left + (side + 8) * i + side / 2, top + side / 2 + 5, "middle", moved ? "×" : i + 1,
      { style: `fill:${moved ? "var(--on-orange)" : "var(--ink)"}` }),
  ]);
  return [write(x, y, "start", changes[change]), ...squares];
}

function draw(layout) {
  const [x, , left] = places(layout, 0);
  const title = "answers 1 to 6 of the row: × moved";
  under.replaceChildren(heading(layout.isNarrow ? x : left, 18, "start", title),
    ...asked.flatMap((change, row) => drawChange(change, row, layout)));
  say(...sentence());
}

// ---- words and controls ----------------------------------------------------------------------

const counted = (seen) => `${count(seen) || "none"} of ${seen.length} answers`;

// A change after which the guess and the patient would differ: what to think about.
function hint() {
  const patient = patients[shown];
  const change = asked.find((each) => String(seenOf(guess, each)) !== String(seenOf(patient, each)));
  const [would, did] = [seenOf(guess, change), seenOf(patient, change)];
  return [bold(guess), ` does not fit. ${changes[change]} Then ${counted(would)} would have moved. `,
    `Here, ${counted(did)} moved. Choose again.`];
}

function sentence() {
  const patient = patients[shown], who = `Patient ${shown + 1} of ${patients.length}. `;
  if (isTold || guess === patient)
    return [isTold ? "It is " : "Yes: ", bold(patient), `. ${diagnoses[patient]} You have found ${
      right.size} of ${tried.size} at the first attempt.`];
  if (guess !== null) return hint();
  const moved = asked.map((each) => `${each} ${count(seenOf(patient, each))}`).join(", ");
  return [`${who}Of 6 answers moved: ${moved}. What does it have?`];
}

function diagnose(name) {
  if (!tried.has(shown) && name === patients[shown]) right.add(shown);
  tried.add(shown);
  guess = name;
  isTold = false;
  redraw();
}

function tell() {
  if (guess === null) return say("Choose a diagnosis first: a hint comes before the answer.");
  isTold = guess !== patients[shown];
  redraw();
}

function admit(index) {
  shown = (index + patients.length) % patients.length;
  guess = null;
  isTold = false;
  diagnosis.set(null);
  redraw();
}

const diagnosis = choices({ label: "your diagnosis", name: "diagnosis", options: names,
  value: null, change: diagnose });
controls.append(diagnosis, button({ label: "Show the answer", press: tell }),
  button({ label: "Next patient", press: () => admit(shown + 1) }));
const { picture: drawn, redraw } = picture({
  label: "What was done to a patient, and which answers moved", wide: [800, 230],
  narrow: [400, 350], draw,
});
drawn.append(under);
redraw();
