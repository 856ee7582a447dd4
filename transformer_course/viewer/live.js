// What live figures share. A figure's own script comes after this one and finds here:
//
//   data        what Python gave (and data.colors, the course's color scale)
//   stage       the element to draw in;  controls: the row of controls
//   say(...nodes)                        the readout, which screen readers speak
//   svg(name, attributes, ...children)   an element;  html(…) likewise
//   setAttributes(element, attributes)   changes an element that stays
//   write(x, y, anchor, said, more)      text in the picture; anchor: start, middle or end; more:
//                                        further attributes
//   heading(x, y, anchor, said, kind)    small and quiet; kind: "outlined" on lines
//   picture({ label, wide, narrow, draw })
//               one <svg> that fills the stage. wide and narrow are [width, height] of its
//               coordinates, for frames more than 600 px wide and others; draw(layout) is called
//               with { width, height, isNarrow, picture } at first and when the layout changes,
//               and it returns nothing. Call redraw() of what is returned after every change.
//               14 units of a letter are 14 px where the stage is as wide as the coordinates.
//   scale([a, b], [from, to])            a function from values to coordinates, with .back(at)
//   place(element, x, y)                 moves an element that is drawn around (0, 0)
//   shade(weight), inkOn(weight)         color of a weight from 0 to 1; of text on it
//   softmax(scores)                      -Infinity for what a mask hides; all hidden gives NaN
//   luckOf(seed)                         a function that draws numbers from 0 to 1
//   fixed(number, digits), percent(weight)       how numbers are said
//   bold(said);  named(texts, index)             nodes for say(): “cat”, or “cat” (no. 2)
//   listed(texts, indices, said)                 likewise: “the” 61%, “cat” 39%; said(index): 61%
//
// Controls are elements; controls.append(…) shows them. `label` is read by the eye and aloud;
// change(value) is called on every change by the reader; element.set(value) changes it silently.
//
//   slider({ label, min, max, step, value, show, change })          show(value): what is written
//   choices({ label, options, value, change, name })                options: [value, content, aloud]
//   toggle({ label, value, change });  button({ label, press })
//
// In the picture, elements that are moved or chosen must stay the same elements: make them once,
// and let draw() change their attributes. A drawing that replaces them loses focus and grip.
//
//   draggable(element, { label, value, range, drag, nudge })
//               pointer and touch: drag({ x, y }) in coordinates of the picture; arrow keys:
//               nudge(dx, dy), a step of ±1, with Shift ±10, up and right positive; value(): where
//               it is, in words; range(): the least, the largest and the present number. The element is a <g> moved by place(); give it a transparent
//               circle of class "grip", r ≥ 20, for fingers.
//   roving(elements, { choose, press, columns, vertical, start })
//               one stop of Tab; arrow keys, Home and End go from element to element, Up and Down
//               by columns, or to vertical(index, up), where up is 1 or -1. choose(index) before
//               an element gets the focus, so that it may put the element into the picture, and
//               again on focus; choose(null) on Escape; press(index) on click, Enter and Space.
//               Its .set(index) moves the stop of Tab silently. A child of class "face" shows the
//               focus by its stroke; give it stroke as an attribute, since a style would win.
//
// Keys together with Ctrl, Alt or Meta are the browser's, and only the main button drags.
//
// Style: text is 14 px in --ink; classes "heading" (small, quiet) and "outlined" (text on lines);
// colors are var(--blue | --orange | --green | --purple | --paper | --ink | --quiet | --rule |
// --pale); fill "url(#hatch)" means exactly 0 or hidden.
// Text only ever becomes text: nothing here writes markup.

function setAttributes(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}
function element(namespace, name, attributes, children) {
  const made = document.createElementNS(namespace, name);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}
const svg = (name, attributes = {}, ...children) =>
  element("http://www.w3.org/2000/svg", name, attributes, children);
const html = (name, attributes = {}, ...children) =>
  element("http://www.w3.org/1999/xhtml", name, attributes, children);
const span = (length) => Array.from({ length }, (_, index) => index);

const root = document.currentScript.parentElement;
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const data = JSON.parse(part("data").textContent);
const stage = part("figure"), controls = part("controls");
controls.hidden = false;

function say(...nodes) {
  part("readout").replaceChildren(...nodes);
  regions.forEach(makeReachable);
}

// A region that shows only a part of what it has can be focused, and so scrolled by keys.
const regions = [part("readout"), stage];
function makeReachable(region) {
  const hasMore = region.scrollHeight > region.clientHeight
    || region.scrollWidth > region.clientWidth;
  if (hasMore) region.setAttribute("tabindex", 0);
  else region.removeAttribute("tabindex");
}
const resized = new ResizeObserver(() => regions.forEach(makeReachable));
regions.forEach((region) => resized.observe(region));

// ---- numbers, words and colors ---------------------------------------------------------------

const shade = (weight) => data.colors[Math.round(weight * (data.colors.length - 1))];
// Black and white have the same contrast, 4.6 : 1, where the luminance is 0.179.
const inkOn = (weight) => (luminance(shade(weight)) > 0.179 ? "#000" : "#fff");
function luminance(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
const fixed = (number, digits = 2) => number.toFixed(digits).replace(/^-0(\.0*)?$/, "0$1")
  .replace("-", "−");
function percent(weight) {
  if (weight > 0 && weight < 0.005) return "< 1%";
  return weight < 1 && weight >= 0.995 ? "> 99%" : `${Math.round(100 * weight)}%`;
}

const bold = (said) => html("b", {}, said);

// “cat”, and which one where there are several; its own direction of reading stays inside.
function named(texts, index) {
  const text = texts[index];
  const which = texts.indexOf(text) === texts.lastIndexOf(text) ? "" : ` (no. ${index + 1})`;
  return ["“", html("bdi", {}, text), `”${which}`];
}

const listed = (texts, indices, said) => indices.flatMap((index, rank) =>
  [rank ? ", " : "", ...named(texts, index), " ", bold(said(index))]);

function softmax(scores) {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

// The generator mulberry32.
function luckOf(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function scale([a, b], [from, to]) {
  const at = (value) => from + ((value - a) / (b - a)) * (to - from);
  return Object.assign(at, { back: (place) => a + ((place - from) / (to - from)) * (b - a) });
}

// ---- the picture -----------------------------------------------------------------------------

const tellers = []; // functions that say where each draggable element is
const narrowFrame = matchMedia("(max-width: 600px)"); // as in live.css and frame.py

function picture({ label, wide, narrow = wide, draw }) {
  const made = svg("svg", { class: "picture", role: "group", "aria-label": label });
  let layout = null;
  function redraw() {
    const isNarrow = narrowFrame.matches;
    if (layout?.isNarrow !== isNarrow) {
      const [width, height] = isNarrow ? narrow : wide;
      layout = { width, height, isNarrow, picture: made };
      made.setAttribute("viewBox", `0 0 ${width} ${height}`);
      made.style.minHeight = `${0.72 * height}px`; // letters of 14 units keep 10 pixels
    }
    draw(layout);
    tellers.forEach((tell) => tell());
  }
  stage.replaceChildren(made);
  narrowFrame.addEventListener("change", redraw);
  return { picture: made, redraw };
}

const place = (element, x, y) => element.setAttribute("transform", `translate(${x} ${y})`);
const write = (x, y, anchor, said, more = {}) =>
  svg("text", { x, y, "text-anchor": anchor, ...more }, said);
const heading = (x, y, anchor, said, kind = "") =>
  write(x, y, anchor, said, { class: `heading ${kind}` });

// Where a pointer is, in coordinates of the picture around an element.
function point(element, event) {
  const matrix = (element.ownerSVGElement ?? element).getScreenCTM().inverse();
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
}

// ---- controls --------------------------------------------------------------------------------

const label = (text, ...more) => html("span", { class: "name" }, text, ...more);

function slider({ label: text, min, max, step = 1, value, show = String, change }) {
  const input = html("input", { type: "range", min, max, step, value, "aria-label": text });
  const output = html("output");
  const set = (to) => {
    input.value = to;
    output.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => (set(input.value), change(Number(input.value))));
  set(value);
  const named = label(`${text}: `, output);
  return Object.assign(html("label", { class: "slider" }, named, input), { set });
}

// Buttons of which one is pressed; an option is a text, or [value, what is on it, what it is aloud].
function choices({ label: text, options, value, change, name = text }) {
  const inputs = new Map();
  const buttons = options.map((option) => {
    const [own, content, aloud] = Array.isArray(option) ? option : [option, [option], option];
    const input = html("input", { type: "radio", name, "aria-label": aloud });
    input.addEventListener("change", () => change(own));
    inputs.set(own, input);
    return html("label", { class: `choice ${name}` }, input, html("span", {}, ...content));
  });
  const set = (to) => inputs.forEach((input, own) => (input.checked = own === to));
  set(value);
  const made = html("fieldset", {}, html("legend", {}, text), html("div", {}, ...buttons));
  return Object.assign(made, { set });
}

function toggle({ label: text, value, change }) {
  const input = html("input", { type: "checkbox" });
  const set = (to) => (input.checked = to);
  set(value);
  input.addEventListener("change", () => change(input.checked));
  return Object.assign(html("label", { class: "toggle" }, input, text), { set });
}

function button({ label: text, press }) {
  const made = html("button", { type: "button" }, text);
  made.addEventListener("click", press);
  return made;
}

// ---- pointer and keys ------------------------------------------------------------------------

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const isForBrowser = (event) => event.ctrlKey || event.altKey || event.metaKey;

function draggable(element, { label: text, value, range, drag, nudge }) {
  tellers.push(() => {
    const [least, most, now] = range();
    setAttributes(element, { "aria-valuemin": least, "aria-valuemax": most, "aria-valuenow": now,
      "aria-valuetext": value() });
  });
  setAttributes(element, { tabindex: 0, role: "slider", "aria-label": text });
  element.classList.add("draggable");
  let grip = null; // from the pointer to the element's own place
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = point(element, event), own = element.transform.baseVal.consolidate()?.matrix;
    grip = { x: (own?.e ?? at.x) - at.x, y: (own?.f ?? at.y) - at.y };
    element.setPointerCapture(event.pointerId);
    element.focus();
    event.preventDefault();
  });
  element.addEventListener("pointermove", (event) => {
    if (!grip) return;
    const at = point(element, event);
    drag({ x: at.x + grip.x, y: at.y + grip.y });
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
    element.addEventListener(end, () => (grip = null));
  element.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow || isForBrowser(event)) return;
    const [dx, dy] = arrow.map((step) => step * (event.shiftKey ? 10 : 1));
    nudge(dx, dy);
    event.preventDefault();
  });
  return element;
}

function roving(elements, { choose, press, columns = 0, vertical, start = 0 }) {
  const last = elements.length - 1;
  let stop = start; // where Tab comes to
  const set = (to) => {
    elements[stop].setAttribute("tabindex", -1);
    elements[to].setAttribute("tabindex", 0);
    stop = to;
  };
  const goTo = (to) => {
    choose(to);
    set(to);
    elements[to].focus();
  };
  const next = (index, key) => {
    if (key in ARROWS) {
      const [across, up] = ARROWS[key], to = index + across - up * (columns || 1);
      if (up && vertical) return vertical(index, up);
      return columns && (to < 0 || to > last) ? index : clamp(to, 0, last);
    }
    return { Home: 0, End: last }[key] ?? null;
  };
  elements.forEach((element, index) => {
    element.setAttribute("tabindex", -1);
    element.classList.add("roving");
    element.addEventListener("focus", () => (set(index), choose(index)));
    if (press) element.addEventListener("click", () => press(index));
    element.addEventListener("keydown", (event) => {
      if (isForBrowser(event)) return;
      const to = next(index, event.key);
      if (to !== null) goTo(to);
      else if (event.key === "Escape") choose(null);
      else if (press && ["Enter", " "].includes(event.key)) press(index);
      else return;
      event.preventDefault();
    });
  });
  set(start);
  return { set };
}
