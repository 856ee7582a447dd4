// A decoder writes: one step reads what is written, and chooses the next token.
// A state is a sentence (by what it begins with) and a step of it.

const { source, beginnings, sentences } = data;
const START = "<s>", END = "</s>";
let sentence = 0, step = data.step;

const steps = () => sentences[sentence];
const chosenAt = (index) => steps()[index].candidates[steps()[index].chosen];
const read = () => [START, ...span(step).map((index) => chosenAt(index)[0])];
const rows = Math.max(source.length, ...sentences.map((each) => each.length));

// ---- drawing ---------------------------------------------------------------------------------

// Where things are across: English boxes, German boxes, mask, bars; and down: rows, bars.
const places = ({ isNarrow }) => isNarrow
  ? { english: [2, 98], german: [152, 82], mask: [242, 156], top: 46, row: 25,
      bars: [2, 74 + 25 * rows, 396], pitch: 34, thick: 8 }
  : { english: [2, 122], german: [232, 96], mask: [336, 200], top: 30, row: 27,
      bars: [580, 30, 216], pitch: 45, thick: 12 };

function drawEnglish({ english: [left, width], top, row }, { attention }) {
  return source.map((token, i) => {
    const y = top + i * row, fill = inkOn(attention[i]);
    return svg("g", { class: "source" },
      svg("rect", { x: left, y: y + 2, width, height: row - 4, rx: 4,
        style: `fill:${shade(attention[i])};stroke:var(--quiet)` }),
      write(left + 6, y + row / 2 + 5, "start", token, { style: `fill:${fill}` }),
      write(left + width - 5, y + row / 2 + 5, "end", percent(attention[i]),
        { class: "heading", style: `fill:${fill}` }));
  });
}

// From the last token that is read to every English token, as thick as its weight.
function drawLinks({ english: [left, width], german, top, row }, { attention }) {
  const height = (index) => top + (index + 0.5) * row;
  const thick = (weight) => `stroke-width:${(0.5 + 9 * weight).toFixed(2)}`;
  return attention.map((weight, i) => svg("line", { class: "link",
    x1: left + width + 1, y1: height(i), x2: german[0] - 1, y2: height(step),
    style: `stroke:var(--orange);stroke-linecap:round;${thick(weight)}` }));
}

function drawGerman({ german: [left, width], top, row }) {
  return [...read(), "?"].slice(0, steps().length).map((token, i) => {
    const y = top + i * row, isNext = i > step;
    const line = i === step ? "stroke:var(--orange);stroke-width:3" : "stroke:var(--quiet)";
    const box = svg("rect", { x: left, y: y + 2, width, height: row - 4, rx: 4,
      style: `fill:var(--${isNext ? "paper" : "pale"});${line}` });
    if (isNext) box.setAttribute("stroke-dasharray", "3 4");
    return svg("g", {}, box, write(left + width / 2, y + row / 2 + 5, "middle", token));
  });
}

// A row for every token: filled where it may attend, hatched where it may not, empty if to come.
function drawMask({ mask: [left, width], top, row }) {
  const size = width / rows, length = steps().length;
  const cells = span(length).flatMap((i) => span(length).map((j) => {
    const fill = i > step ? "none" : j <= i ? "var(--blue)" : "url(#hatch)";
    return svg("rect", { class: i === step && j <= i ? "allowed" : "cell",
      x: left + j * size, y: top + i * row + 3, width: size - 2, height: row - 6,
      style: `fill:${fill};stroke:var(--rule);opacity:${i === step ? 1 : 0.35}` });
  }));
  return [...cells, svg("rect", { x: left - 3, y: top + step * row, width: length * size + 4,
    height: row, rx: 4, style: "fill:none;stroke:var(--orange);stroke-width:3" })];
}

function drawBars({ bars: [left, top, width], pitch, thick }, { candidates, chosen, given }) {
  return candidates.map(([token, probability], i) => {
    const y = top + i * pitch + 14, rect = { x: left, y: y + 6, height: thick };
    const color = i === chosen ? "orange" : "blue", style = i === chosen ? "font-weight:700" : "";
    const mark = i === chosen ? `→ ${token}${given ? " (put in)" : ""}` : token;
    return svg("g", {},
      write(left, y, "start", mark, { style }),
      write(left + width, y, "end", percent(probability), { style }),
      svg("rect", { ...rect, width, style: "fill:var(--pale)" }),
      svg("rect", { ...rect, class: "bar", width: width * probability,
        style: `fill:var(--${color})` }));
  });
}

function draw(layout) {
  const where = places(layout), now = steps()[step];
  const above = where.top - 8, [left] = where.english;
  const title = (x, y, said) => heading(x, y, "start", said);
  const over = layout.isNarrow
    ? [title(left, above - 16, "cross-attention"), title(left, above, "over the memory")]
    : [title(left, above, "cross-attention over the memory")];
  under.replaceChildren(...over,
    title(where.german[0], above, "tokens read"), title(where.mask[0], above, "causal mask"),
    title(where.bars[0], where.bars[1] - 8, "probability of the next token"),
    ...drawLinks(where, now), ...drawEnglish(where, now), ...drawGerman(where),
    ...drawMask(where), ...drawBars(where, now));
  for (const [button, isOff] of [[back, step === 0], [next, step === steps().length - 1]]) {
    button.setAttribute("aria-disabled", isOff); // a disabled one would lose the focus
    button.style.opacity = isOff ? 0.4 : 1;
  }
  say(...words(now));
}

// ---- words and controls ----------------------------------------------------------------------

function words({ attention, candidates, chosen, given }) {
  const most = attention.indexOf(Math.max(...attention)), [token, probability] = candidates[chosen];
  const how = given ? ["Put in: ", ...named([token], 0), ", which has "]
    : ["Most probable next token: ", ...named([token], 0), ", "];
  const end = step < steps().length - 1 ? "It joins the sentence."
    : token === END ? "It is the last one of the sentence."
    : "The figure ends here, but the sentence goes on.";
  const positions = step ? `${step + 1} positions` : "1 position";
  return ["Read: ", html("bdi", {}, read().join(" ")), ` (row ${step + 1} of the mask allows ${
    positions}). Highest cross-attention: `, ...named(source, most), ", ",
    bold(percent(attention[most])), ". ", ...how, bold(percent(probability)),
    `. ${end}`];
}

function goTo(index) {
  step = clamp(index, 0, steps().length - 1);
  reader.querySelector("input").max = steps().length;
  reader.set(step + 1);
  redraw();
}

const back = button({ label: "← Back", press: () => goTo(step - 1) });
const next = button({ label: "Next →", press: () => goTo(step + 1) });
const reader = slider({
  label: "tokens read", min: 1, max: steps().length, value: step + 1,
  change: (value) => goTo(value - 1),
});
const start = choices({
  label: "the sentence begins with", value: 0,
  options: beginnings.map((each) => each || "the model's choice")
    .map((each, i) => [i, [each], each]),
  change: (index) => ((sentence = index), goTo(0)),
});
addEventListener("keydown", (event) => {
  if (event.target.matches("input") || isForBrowser(event)) return;
  if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  goTo(step + (event.key === "ArrowRight" ? 1 : -1));
});
controls.append(...(beginnings.length > 1 ? [start] : []), reader, back, next);
const under = svg("g");
const most = Math.max(...sentences.flat().map((each) => each.candidates.length));
const { picture: drawn, redraw } = picture({
  label: "A decoder that writes a sentence", wide: [800, Math.max(40 + 27 * rows, 30 + 45 * most)],
  narrow: [400, 74 + 25 * rows + 34 * most], draw,
});
drawn.append(under);
redraw();
