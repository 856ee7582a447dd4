// The small parts of every view: elements, numbers, strips and maps of colored cells.
//
// Texts, which may be hostile, only ever become text nodes and attributes that name things.

function h(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child || child === 0));
  return element;
}

function svg(tag, given) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
  return element;
}

const find = (id) => document.getElementById(id);

// Replaces what an element holds; what had the focus and is still there keeps it.
function fill(element, ...children) {
  const had = element.contains(document.activeElement) && document.activeElement.dataset.key;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (had) element.querySelector(`[data-key="${CSS.escape(had)}"]`)
    ?.focus({ preventScroll: true });
}

const button = (key, label, onclick, given = {}) =>
  h("button", { type: "button", "data-key": key, onclick, ...given }, label);

// One of several: a group of buttons of which one is pressed.
const choice = (name, label, options, chosen, choose, given = {}) =>
  h("div", { role: "group", "aria-label": label, class: "choice", ...given },
    options.map((option, number) => button(`${name} ${number}`, option, () => choose(number),
      { "aria-pressed": String(number === chosen) })));

const number = (value, digits = 3) =>
  (Number.isFinite(value) ? Math.abs(value).toFixed(digits) : "∞")
    .replace(/^/, value < 0 && Math.abs(value) >= 0.5 / 10 ** digits ? "−" : "");
const percent = (value) => `${(100 * value).toFixed(value > 0.0995 ? 0 : 1)} %`;
const shown = (token) => token.replace(/^▁/, "") || "␣";
const lengthOf = (vector) => Math.sqrt(vector.reduce((sum, each) => sum + each * each, 0));
const sumOf = (numbers) => numbers.reduce((sum, each) => sum + each, 0);
const times = (a, b) => a.map((each, at) => each * b[at]);

// Row `at` of the leading axes of { shape, data }, such as a head and a position.
function rowOf({ shape, data }, ...at) {
  const size = shape.slice(at.length).reduce((a, b) => a * b, 1);
  const place = at.reduce((sum, each, axis) => sum * shape[axis] + each, 0);
  return data.slice(place * size, (place + 1) * size);
}

// ---- colors ---------------------------------------------------------------------------------

const hex = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  .match(/\w\w/g).map((part) => parseInt(part, 16));

const STEPS = 127;

// From one color to another, each as the number that a pixel of a canvas holds.
const ramp = (from, to) => Uint32Array.from({ length: STEPS + 1 }, (_, step) => from.reduce(
  (color, part, at) => color + Math.round(part + (to[at] - part) * step / STEPS) * 256 ** at,
  0xff000000));

// Orange is negative, purple is positive, and the strongest from this limit on.
function signedColors(limit) {
  const [paper, minus, plus] = ["--cell", "--minus", "--plus"].map(hex);
  const below = ramp(paper, minus), above = ramp(paper, plus);
  return (value) => (value < 0 ? below : above)[
    Math.min(STEPS, Math.round(Math.abs(value) / limit * STEPS))];
}

function weightColors() {
  const [paper, blue, hidden] = ["--cell", "--blue", "--hidden"].map(hex);
  const colors = ramp(paper, blue), [gray] = ramp(hidden, hidden);
  return (weight) => weight === null ? gray : colors[Math.round(Math.min(1, weight) * STEPS)];
}

// A picture with one pixel a number, which the style stretches.
function cellsOf(rows, columns, values, colorOf) {
  const canvas = h("canvas", { width: columns, height: rows, "aria-hidden": "true" });
  const drawing = canvas.getContext("2d"), image = drawing.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < pixels.length; at++) pixels[at] = colorOf(values[at]);
  drawing.putImageData(image, 0, 0);
  return canvas;
}

const largestOf = (values) => values.reduce((most, each) => Math.max(most, Math.abs(each)), 1e-9);
// A small picture of many vectors: a few large numbers may not make all others pale.
const heat = ({ shape, data }) =>
  cellsOf(shape[0], shape[1], data, signedColors(2.5 * lengthOf(data) / Math.sqrt(data.length)));

// ---- strips: a vector whose cells can be read one by one -----------------------------------

// Strips of equal length in one view follow each other, so that a sum can be read cell by cell.
class Cells {
  constructor() {
    this.followers = new Map();
  }

  follow(length, show) {
    if (!this.followers.has(length)) this.followers.set(length, []);
    this.followers.get(length).push(show);
    show(Cells.at.get(length) ?? 0);
  }

  go(length, at) {
    Cells.at.set(length, Math.max(0, Math.min(length - 1, at)));
    for (const show of this.followers.get(length)) show(Cells.at.get(length));
  }

  // A line of text about the cell that is being read.
  told(length, say) {
    const line = h("output", { class: "formula" });
    this.follow(length, (at) => (line.textContent = say(at)));
    return line;
  }

  strip(key, label, values, limit = largestOf(values)) {
    const count = values.length, told = h("output");
    const mark = h("i", { class: "mark" });
    const read = ({ clientX }) => {
      const { left, width } = slider.getBoundingClientRect();
      this.go(count, Math.floor((clientX - left) / width * count));
    };
    const slider = h("div", { class: "strip", role: "slider", tabindex: 0, "data-key": key,
      "aria-label": label, "aria-valuemin": 1, "aria-valuemax": count,
      onpointerdown: read, onpointermove: read,
      onkeydown: (event) => {
        const now = Cells.at.get(count) ?? 0;
        const to = { ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1,
          ArrowDown: now - 1, PageUp: now + 10, PageDown: now - 10, Home: 0, End: count - 1 };
        if (!(event.key in to)) return;
        event.preventDefault();
        this.go(count, to[event.key]);
      } }, cellsOf(1, count, values, signedColors(limit)), mark);
    mark.style.width = `${100 / count}%`;
    this.follow(count, (at) => {
      mark.style.left = `${100 * at / count}%`;
      told.textContent = `${at + 1}: ${number(values[at])}`;
      slider.setAttribute("aria-valuenow", at + 1);
      slider.setAttribute("aria-valuetext", `number ${at + 1} is ${number(values[at])}`);
    });
    return h("div", { class: "vector" }, h("p", {}, label, told), slider);
  }
}
Cells.at = new Map();
