// What the attention viewer does: which heads are shown, and what pointer and keys bring out.

const { maps, tokens, sizes, steps, start } = data;
const MOST_SHOWN = 4; // as many as there are slots in viewer.css
const shown = { heads: [], view: start.view };
// What is brought out: {query, key}, either of them null, or nothing at all.
let chosen = null, hovered = null;
let drawing;

for (const map of maps) {
  [map.queries, map.keys] = [tokens[map.queries], tokens[map.keys]];
  [map.rows, map.columns] = [map.queries.texts.length, map.keys.texts.length];
  map.codes = unpack(map.packed);
  const heads = span(map.codes.length / map.rows / map.columns);
  map.heads = heads.map((number) => new Head(map, number, steps));
}
const map = () => shown.heads[0].map;

// ---- what is shown ---------------------------------------------------------------------------

const fits = (head) => head.map.queries === map().queries && head.map.keys === map().keys;

function showOnly(head) {
  if (shown.heads.length && !fits(head)) chosen = null;
  head.slot = 0;
  shown.heads = [head];
  redraw();
}

// Over those that are shown, or away from them; of another kind of attention it is shown alone.
function layOver(head) {
  const others = shown.heads.filter((each) => each !== head);
  const isNew = others.length === shown.heads.length;
  if (!fits(head) || !others.length) return showOnly(head);
  if (!isNew && others.length === 1) return showOnly(others[0]);
  if (isNew && others.length === MOST_SHOWN)
    return say(`${MOST_SHOWN} heads are the most. Choose one of them to take it away.`);
  if (isNew) head.slot = span(MOST_SHOWN).find((slot) => others.every((one) => one.slot !== slot));
  shown.heads = isNew ? [...others, head] : others;
  redraw();
}

// Arrow keys show the map that they reach; with Shift, or several at once, they only go there.
let act = {};
for (const kind of ["keydown", "pointerdown"])
  document.addEventListener(kind, (event) => (act = event), { capture: true });
const isLaying = () => several.checked || act.shiftKey;

const several = makeControls(maps, shown, {
  isShown: (head) => head === maps[start.map].heads[start.head],
  choose(head) {
    if (head === null) showOnly(shown.heads.at(-1));
    else if (act.key in ARROWS || ["Home", "End"].includes(act.key)) isLaying() || showOnly(head);
  },
  press: (head) => (isLaying() ? layOver : showOnly)(head),
  view(view) {
    shown.view = view;
    redraw();
  },
  lay: (isOn) => isOn || showOnly(shown.heads.at(-1)),
});

// Where we are, and how each of several heads is drawn.
function placeInWords() {
  const { kind, heads } = map(), [first, ...more] = shown.heads;
  if (!more.length) return [`${kind}, ${first.name} of ${heads.length}`];
  const each = shown.heads.flatMap((head) => [sample(head), ` ${head.name}  `]);
  return [`${kind}: `, ...each];
}

function redraw() {
  const key = shown.view === "grid" && shown.heads.length > 1 ? "squares" : shown.view;
  part("place").replaceChildren(...placeInWords());
  part("about").textContent = map().about[key];
  for (const each of root.querySelectorAll("[data-key]")) each.hidden = each.dataset.key !== key;
  for (const head of maps.flatMap((each) => each.heads)) {
    const isShown = shown.heads.includes(head);
    head.button.className = `map roving slot-${isShown ? head.slot : "none"}`;
    head.button.setAttribute("aria-pressed", isShown);
  }
  hovered = null;
  const room = stage.clientWidth;
  drawing = (shown.view === "lines" ? drawLines : drawGrid)(shown.heads, sizes, room);
  const { width, height, below, buttons } = drawing;
  drawing.marks = svg("g");
  const fit = clamp(room / width, sizes.smallest, 1); // letters of 14 pixels keep 10
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group" });
  picture.setAttribute("width", fit * width);
  picture.setAttribute("height", fit * height);
  picture.setAttribute("aria-label", `${part("place").textContent}. ${map().about[key]}`);
  picture.append(...below, ...buttons.query, ...buttons.key, drawing.marks);
  for (const side of ["query", "key"]) {
    const focused = (index) => {
      if (index === null) choose(null);
      else if (chosen?.[side] !== index) choose(only(side, index));
    };
    roving(buttons[side], { choose: focused, start: chosen?.[side] ?? 0 });
  }
  stage.replaceChildren(picture);
  mark();
}

// ---- what is brought out ---------------------------------------------------------------------

function mark() {
  const now = hovered ?? chosen;
  const { query, key } = now ?? { query: null, key: null };
  for (const link of drawing.links) {
    const lit = [null, link.query].includes(query) && [null, link.key].includes(key);
    const opacity = !now ? link.opacity : lit ? 0.5 + 0.45 * link.weight : 0.04;
    link.path.setAttribute("opacity", opacity);
  }
  for (const button of [...drawing.buttons.query, ...drawing.buttons.key]) {
    const isKey = button.side === "key";
    const [own, other] = isKey ? [key, query] : [query, key];
    const isMeant = own === null || (isKey && own === button.index);
    const place = isKey ? [query, button.index] : [button.index, key];
    const weights = shown.heads.map((head) => head.weight(...place));
    const weight = other !== null && isMeant ? Math.max(...weights) : 0;
    button.classList.toggle("chosen", own === button.index);
    button.querySelector(".weight").style.opacity = 0.5 * weight;
    const value = button.querySelector(".value");
    const isSaid = weight >= 0.005 && shown.heads.length === 1;
    if (value) value.textContent = isSaid ? weight.toFixed(2) : "";
  }
  drawing.marks.replaceChildren(...(now && drawing.field ? frames(query, key) : []));
  say(...(now ? said(shown.heads, now) : [start.hint]));
}

// Around the cells in question, with the value of a single one.
function frames(query, key) {
  const { left, above, cell } = drawing.field;
  const frame = svg("rect", {
    class: "frame",
    x: left + cell * (key ?? 0) - 1.5,
    y: above + cell * (query ?? 0) - 1.5,
    width: cell * (key === null ? map().columns : 1) + 2,
    height: cell * (query === null ? map().rows : 1) + 2,
  });
  if (query === null || key === null || shown.heads.length > 1) return [frame];
  const text = shortly(shown.heads[0].code(query, key), steps), width = 8 * text.length + 12;
  const x = left + cell * (key + 1) + 4, y = above + cell * (query + 0.5) - 11;
  const box = svg("rect", { x, y, width, height: 22, rx: 5 });
  const place = { x: x + width / 2, y: y + 16, "text-anchor": "middle" };
  return [frame, svg("g", { class: "tip" }, box, svg("text", place, text))];
}

function choose(now) {
  chosen = now;
  hovered = null;
  mark();
}

function hover(now) {
  const same = now?.query === hovered?.query && now?.key === hovered?.key;
  hovered = now;
  if (!same) mark();
}

// ---- pointer and keys ------------------------------------------------------------------------

const only = (side, index) => ({ query: null, key: null, [side]: index });

// On what holds the picture: an SVG that listens itself would take the focus in some browsers.
function listen(figure) {
  figure.addEventListener("pointermove", (event) => {
    const button = event.target.closest(".token-button");
    if (button) hover(only(button.side, button.index));
    else hover(event.target.link ?? (drawing.field ? cellAt(event) : null));
  });
  figure.addEventListener("pointerleave", () => hover(null));
  figure.addEventListener("click", (event) => {
    const button = event.target.closest(".token-button");
    choose(button ? only(button.side, button.index) : hovered);
  });
  figure.addEventListener("keydown", goAlongRow, { capture: true });
}

function cellAt(event) {
  const { left, above, cell } = drawing.field;
  const { x, y } = point(stage.firstElementChild, event);
  const key = Math.floor((x - left) / cell), query = Math.floor((y - above) / cell);
  const inside = key >= 0 && query >= 0 && key < map().columns && query < map().rows;
  return inside ? { query, key } : null;
}

// From a query, left and right go through its keys.
function goAlongRow(event) {
  const { side, index } = event.target, step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (side !== "query" || !step || isForBrowser(event)) return;
  const most = map().columns - 1, from = chosen?.key ?? (step > 0 ? -1 : most + 1);
  choose({ query: index, key: clamp(from + step, 0, most) });
  event.preventDefault();
  event.stopPropagation();
}

listen(stage);
showOnly(maps[start.map].heads[start.head]);
// Whenever the frame gets another width: also when it is laid out after this script.
let drawnFor = stage.clientWidth;
new ResizeObserver(() => {
  if (stage.clientWidth === drawnFor) return;
  drawnFor = stage.clientWidth;
  redraw();
}).observe(stage);
