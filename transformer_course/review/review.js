/* The review of the Predicts: a Leitner box of cards. page.py puts it behind DATA, its questions and
   what my_answers.json keeps. An answer of a lesson is kept under the name of its question's buttons.
   A card is [box, the day on which it is due, the day on which it was asked last]. */
const SURE = "-sure"; // follows the name of the buttons that say how sure the reader was
const ROOT = document.querySelector(".transformer-review:not([data-started])");
const CARDS = "transformer-edu-review";
const WAITS = [0, 1, 3, 7, 14, 30]; // days, by the box; a card that leaves the last box is learned
const LEARNED = WAITS.length;
const NEVER = 1e6;
ROOT.dataset.started = "";

const dayOf = (date) => Math.floor((date - date.getTimezoneOffset() * 6e4) / 864e5);
const today = dayOf(new Date());
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function stored(name) {
  try {
    return window.localStorage.getItem(name);
  } catch {
    return null; // this browser keeps nothing
  }
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/* The cards among what was stored; one that a clock that was ahead has put off is due today. */
function cardsOf(stored) {
  const found = {};
  for (const [group, card] of Object.entries(stored)) {
    if (!Array.isArray(card) || card.length !== 3 || !card.every(Number.isSafeInteger)) continue;
    const [box, due, last] = card;
    if (box < 0) continue;
    const isLate = last > today + 1 || (box < LEARNED && due > today + WAITS.at(-1) + 1);
    found[group] = isLate ? [box, today, Math.min(last, today)] : card;
  }
  return found;
}

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  Object.assign(made, attributes);
  return made;
}

const filed = { answers: {}, cards: {}, ...DATA.kept };
const here = {};
for (const name of DATA.questions.flatMap(({ group }) => [group, group + SURE])) {
  const answer = stored(name)?.trim();
  if (answer) here[name] = answer;
}
const answers = { ...filed.answers, ...here };
const cards = cardsOf(filed.cards);
for (const [group, card] of Object.entries(cardsOf(parsed(stored(CARDS))))) {
  if (!(cards[group]?.[2] > card[2])) cards[group] = card;
}
const wrong = DATA.questions.filter((q) => answers[q.group] && answers[q.group] !== q.right);
for (const { group } of wrong) cards[group] ??= [0, today, 0];
const wasCertain = ({ group }) => answers[group + SURE] === "certain";

function save() {
  try {
    window.localStorage.setItem(CARDS, JSON.stringify(cards));
  } catch {
    // the file may still keep it
  }
  if (DATA.file) tellKernel(40);
}

/* With a kernel, a hidden field comes below this page: what it holds, Python writes into the file. A
   late field gets what is true by then. */
function tellKernel(tries) {
  const field = ROOT.closest(".jp-OutputArea, .output_area")?.querySelector("textarea");
  if (field) {
    field.value = JSON.stringify({ answers, cards });
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
  } else if (tries) {
    setTimeout(() => tellKernel(tries - 1), 250);
  }
}

function found() {
  const given = (kept) =>
    counted(Object.keys(kept).filter((name) => !name.endsWith(SURE)).length, "answer");
  const places = [`${given(here)} in this browser`];
  if (DATA.file) places.push(`${given(filed.answers)} in ${DATA.file}`);
  return `Found ${places.join(" and ")}; ${counted(wrong.length, "Predict")} answered wrongly.`;
}

function show() {
  const waiting = DATA.questions.filter((q) => cards[q.group] && cards[q.group][0] < LEARNED);
  const due = waiting.filter((q) => cards[q.group][1] <= today);
  due.sort((one, other) => wasCertain(other) - wasCertain(one)); // these come first
  const learned = DATA.questions.filter((q) => cards[q.group]?.[0] >= LEARNED).length;
  ROOT.replaceChildren(element("p", found()));
  if (due.length) {
    ROOT.append(element("p", `Due today: ${due.length}. Learned: ${learned}.`), asked(due[0]));
  } else if (waiting.length) {
    const next = Math.min(...waiting.map((q) => cards[q.group][1]));
    const date = new Date((next + 0.5) * 864e5).toLocaleDateString("en", { dateStyle: "full", timeZone: "UTC" });
    const words = `Nothing more is due today. Waiting: ${waiting.length}, the next one from ${date}.`;
    ROOT.append(element("p", `${words} Learned: ${learned}.`));
  } else if (learned) {
    ROOT.append(element("p", `All cards are learned: ${learned}.`));
  } else {
    const words = "There is nothing to review: choose answers in the lessons, and come back.";
    ROOT.append(element("p", words));
  }
}

function asked(question) {
  const field = element("fieldset");
  field.style = "border: 1px solid; border-radius: 4px; padding: 0.5em 1em";
  const legend = element("legend");
  legend.append(element("b", "Predict again"));
  const words = element("p");
  words.append(element("b", question.question));
  field.append(legend, words);
  if (wasCertain(question)) {
    field.append(element("p", "In the lesson you were certain of a wrong answer."));
  }
  const shuffled = question.answers.map((answer) => [Math.random(), answer]).sort();
  for (const [, answer] of shuffled) {
    const label = element("label");
    label.style = "display: block; padding: 0.2em 0";
    const button = element("input", "", { type: "radio", name: "review-answer", value: answer });
    button.dataset.lmSuppressShortcuts = "true"; // arrow keys stay here, in JupyterLab
    button.addEventListener("change", () => (field.querySelector("button").disabled = false));
    label.append(button, ` ${answer}`);
    field.append(label);
  }
  const done = element("button", "Answer", { type: "button", disabled: true });
  done.addEventListener("click", () => judge(question, field), { once: true });
  field.append(done);
  return field;
}

function judge(question, field) {
  const isRight = field.querySelector("input:checked").value === question.right;
  const box = isRight ? cards[question.group][0] + 1 : 1;
  const wait = box < LEARNED ? WAITS[box] : NEVER;
  cards[question.group] = [box, today + wait, today];
  save();
  for (const button of field.querySelectorAll("input")) button.disabled = true;
  const again = box < LEARNED ? `It comes again in ${counted(wait, "day")}.` : "You have learned it.";
  const verdict = element("p", isRight ? "Right. It is: " : "Not yet. It is: ");
  verdict.setAttribute("role", "status");
  verdict.append(element("b", question.right), ` (${question.place}). ${again}`);
  const next = element("button", "Continue", { type: "button" });
  next.addEventListener("click", show);
  field.querySelector("button").replaceWith(verdict, next);
  next.focus();
}

save();
show();
