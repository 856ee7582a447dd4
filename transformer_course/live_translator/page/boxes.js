// The boxes of Figure 1, in the order in which they compute, and what each shows when it is opened.
//
// A box has a side (source or target), a title, the class that computes it, the lesson that builds
// it, a sentence about it, the values that its small picture shows, and a view. A view gets the
// page and returns elements; it reads the values of `look` by their names.

const AROUND = "The sub-layer's output is added to its input: the residual connection. A layer "
  + "norm keeps the numbers of every vector in one range. ";

function boxesOf({ norm_first: isPre, num_heads, d_model, d_ff, vocabulary_size }) {
  const order = isPre ? "This translator normalizes before the sub-layer, the paper after it."
    : "As in the paper, the sum is normalized.";
  const attention = (side, kind, title, about, lesson) => ({ id: `${side}.${kind}`, title, about,
    lesson, name: "MultiHeadAttention", view: attentionView, kind });
  const around = (side, kind) => ({ id: `${side}.around_${kind}`, title: "Add & Norm",
    name: "AddAndNorm", lesson: "06_feed_forward_add_and_norm", about: AROUND + order,
    view: aroundView, kind });
  const feedForward = (side) => ({ id: `${side}.feed_forward`, title: "Feed-forward",
    name: "FeedForward", lesson: "06_feed_forward_add_and_norm", view: feedForwardView,
    about: `Each position by itself: ${d_model} numbers become ${d_ff}, negative ones become 0, `
      + `and ${d_model} come out.`, kind: "feed_forward" });
  const start = (side) => [
    { id: `${side}.tokens`, title: side === "source" ? "English tokens" : "German so far",
      name: "Tokenizer", lesson: "14_tokenization", view: tokensView,
      about: `A fixed list of ${vocabulary_size.toLocaleString("en")} pieces. A word that is not `
        + "on the list is spelled with several. ▁ stands for a space."
        + (side === "source" ? "" : " The decoder starts with <s>, and reads all that is "
          + "written so far.") },
    { id: `${side}.embedding`, title: "Embedding + position", name: "TokenEmbedding",
      lesson: "05_positional_encoding", view: embeddingView,
      about: `Each token has a row of ${d_model} learned numbers. They are multiplied by √d_model, `
        + "and a code of the position is added." }];
  const layer = (side, ...kinds) => kinds.map((box) => ({ ...box, inLayer: true }));
  const heads = `${num_heads} heads attend side by side, each with its own queries, keys and `
    + "values.";
  const source = [
    ...start("source"),
    ...layer("encoder",
      attention("encoder", "self_attention", "Self-attention",
        `Every English token gathers from all English tokens. ${heads}`,
        "04_multi_head_attention"),
      around("encoder", "self_attention"), feedForward("encoder"),
      around("encoder", "feed_forward")),
    { id: "encoder.final_norm", title: "Memory", name: "Encoder", lesson: "07_encoder",
      view: normView, about: "What the encoder has made of the sentence: a vector for each English "
        + "token. Every layer of the decoder attends to these vectors." },
  ];
  const target = [
    ...start("target"),
    ...layer("decoder",
      attention("decoder", "self_attention", "Masked self-attention",
        `Every German token gathers from those before it and from itself. ${heads}`, "03_masks"),
      around("decoder", "self_attention"),
      attention("decoder", "cross_attention", "Cross-attention",
        "The queries come from the German tokens, the keys and values from the memory: here the "
        + `decoder reads the English sentence. ${heads}`, "08_decoder"),
      around("decoder", "cross_attention"), feedForward("decoder"),
      around("decoder", "feed_forward")),
    { id: "decoder.final_norm", title: "Last norm", name: "Decoder", lesson: "08_decoder",
      view: normView, about: "The last vector of the newest position predicts the next token." },
    { id: "logits", title: "Linear, softmax", name: "Transformer", lesson: "12_generation",
      view: logitsView, about: "The last vector times the row of each token gives a score, its "
        + "logit. Softmax turns all logits into probabilities. Choose another token, and the "
        + "sentence goes on from there." },
  ];
  return [...source.map((box) => ({ ...box, side: "source" })),
    ...target.map((box) => ({ ...box, side: "target" }))];
}

// ---- the figure ---------------------------------------------------------------------------------

function figure(page) {
  const { place, config, boxes } = page;
  const shownBox = (box) => button(`box ${box.id}`,
    [h("span", {}, box.title), pictureOf(page, box)], () => page.go({ box: box.id, key: null }),
    { class: `box ${box.kind ?? ""}`, "aria-pressed": String(box === page.box) });
  const layers = [...Array(config.num_layers).keys()].map((layer) => String(layer + 1));
  const column = (side, name, stack) => {
    const own = boxes.filter((box) => box.side === side), inside = own.filter((b) => b.inLayer);
    const first = own.indexOf(inside[0]);
    return h("div", { class: `column ${side}`, role: "group", "aria-label": name },
      h("h3", {}, name), own.slice(0, first).map(shownBox),
      h("div", { class: "layer" }, h("p", {}, "Layer"), choice(`layer ${side}`, `${name} layer`,
        layers, place.layer, (layer) => page.go({ layer, key: null })), inside.map(shownBox)),
      own.slice(first + inside.length).map(shownBox));
  };
  return [column("source", "Encoder"), column("target", "Decoder"),
    svg("svg", { "aria-hidden": "true" })];
}

// The memory goes from the encoder's last box to the cross-attention.
function drawMemory() {
  const lines = find("figure").lastElementChild;
  const box = (id) => find("figure").querySelector(`[data-key="box ${id}"]`)
    .getBoundingClientRect();
  const from = box("encoder.final_norm"), to = box("decoder.cross_attention");
  const { left, top } = find("figure").getBoundingClientRect(), middle = (from.right + to.left) / 2;
  const [x, y, z, u, v] = [from.right - left, (from.top + from.bottom) / 2 - top, middle - left - 6,
    to.left - left - 3, (to.top + to.bottom) / 2 - top];
  fill(lines, svg("path", { d: `M${x} ${y}H${z}V${v}H${u}` }),
    svg("path", { class: "head", d: `M${u - 7} ${v - 5}L${u + 2} ${v}L${u - 7} ${v + 5}Z` }));
}

function pictureOf(page, box) {
  const name = page.nameOf(box), value = page.values[name];
  const small = (canvas) => h("span", { class: "small" }, canvas);
  if (box.id.endsWith(".tokens")) return null;
  if (box.id.endsWith(".embedding")) return small(heat(page.values[`${box.side}_input`]));
  if (box.id === "logits") return h("span", { class: "next", lang: "de" },
    page.likeliest(1).map(({ token, probability }) =>
      `${token === "</s>" ? "end" : shown(token)} ${percent(probability)}`));
  if (box.name !== "MultiHeadAttention") return small(heat(box.kind === "feed_forward"
    && box.name === "FeedForward" ? page.values[`${name}.hidden`] : value));
  return h("span", { class: "small" }, [...Array(page.config.num_heads).keys()].map((head) =>
    weightMap(page, name, head)));
}

// ---- the views ----------------------------------------------------------------------------------

// Which position is looked at: of the encoder the chosen English token, of the decoder a row.
function positions(page, box) {
  const tokens = box.side === "source" ? page.sourceTokens : page.targetTokens;
  return [h("p", { class: "label" }, "Position"), choice("position", "Position",
    tokens.map(shown), page.positionOf(box), (at) =>
      page.go({ [box.side === "source" ? "word" : "row"]: at, key: null }),
    { class: "choice tokens" })];
}

function tokensView(page, box) {
  const [tokens, ids] = box.side === "source" ? [page.sourceTokens, page.sourceIds]
    : [page.targetTokens, page.targetIds];
  return h("ol", { class: "pieces" }, tokens.map((token, at) =>
    h("li", {}, h("b", {}, token), h("span", {}, `id ${ids[at]}`))));
}

function embeddingView(page, box) {
  const at = page.positionOf(box), cells = new Cells(), { side } = box;
  const value = (name) => rowOf(page.values[`${side}_${name}`], at);
  const rows = value("embedding.rows"), scaled = value("embedding"), places = value("positions");
  const sum = value("input"), root = number(Math.sqrt(page.config.d_model));
  const limit = largestOf(sum);
  return [positions(page, box),
    cells.strip("row", "The token's row of the table", rows),
    cells.strip("scaled", `× √d_model = × ${root}`, scaled, limit),
    cells.strip("places", `+ the code of position ${at}`, places, limit),
    cells.strip("sum", "= what layer 1 reads", sum, limit),
    cells.told(sum.length, (i) => `${number(rows[i])} × ${root} + ${number(places[i])} = `
      + number(sum[i])),
    page.switchFor(`${side}_positions`, `Add positions on this side`), ...neighborsView(page,
    side, (side === "source" ? page.sourceIds : page.targetIds)[at])];
}

function neighborsView(page, side, id) {
  const list = h("ol", { class: "bars neighbors" });
  page.engine.neighbors(id, { side }).then(({ neighbors }) => fill(list, neighbors.map(
    ({ token, cosine }) => h("li", {}, h("span", {}, shown(token)), bar(cosine),
      h("span", {}, number(cosine, 2))))));
  return [h("p", { class: "label" }, `The tokens whose rows are most like that of “${
    shown(page.engine.tokens[id])}”: cosine similarity`), list];
}

function aroundView(page, box) {
  const at = page.positionOf(box), cells = new Cells(), name = page.nameOf(box);
  const before = rowOf(page.values[page.nameBefore(box)], at);
  const output = rowOf(page.values[name.replace("around_", "")], at);
  const norm = rowOf(page.values[`${name}.norm`], at), sum = rowOf(page.values[name], at);
  const isOff = page.place.off.includes(`${name}.residual`);
  const added = [
    cells.strip("before", `x, which comes in; its length is ${number(lengthOf(before), 1)}`,
      before),
    cells.strip("output", `+ the sub-layer's output; its length is ${number(lengthOf(output), 1)}`,
      output, largestOf(before))];
  const after = cells.strip("sum", `= what goes on; its length is ${number(lengthOf(sum), 1)}`,
    sum, largestOf(before));
  const normed = (label) => cells.strip("norm", label, norm);
  const told = cells.told(sum.length, (i) => isOff ? `${number(output[i])}: x is left out`
    : `${number(before[i])} + ${number(output[i])} = ${number(before[i] + output[i])}`);
  return [positions(page, box), ...(page.config.norm_first
    ? [added[0], normed("Norm(x), which the sub-layer reads"), added[1], after, told]
    : [...added, told, normed("Norm(sum), which goes on")]),
  page.switchFor(`${name}.residual`, "Add x: the residual connection")];
}

function feedForwardView(page, box) {
  const at = page.positionOf(box), cells = new Cells(), name = page.nameOf(box);
  const around = name.replace("feed_forward", "around_feed_forward");
  const given = page.config.norm_first ? `${around}.norm` : page.nameBefore(box);
  const hidden = rowOf(page.values[`${name}.hidden`], at);
  const active = hidden.filter((each) => each > 0).length;
  const largest = [...hidden.keys()].sort((a, b) => hidden[b] - hidden[a]).slice(0, 6);
  return [positions(page, box),
    cells.strip("given", "What comes in", rowOf(page.values[given], at)),
    cells.strip("hidden", `After ReLU: ${active} of ${hidden.length} numbers are not 0`, hidden),
    h("p", { class: "label" }, "The most active units"),
    h("ol", { class: "bars" }, largest.map((unit) => h("li", {}, h("span", {}, `unit ${unit + 1}`),
      bar(hidden[unit] / hidden[largest[0]]), h("span", {}, number(hidden[unit]))))),
    cells.strip("output", "What goes out", rowOf(page.values[name], at)),
    page.switchFor(name, "Use this feed-forward network")];
}

function normView(page, box) {
  const cells = new Cells(), value = page.values[box.id] ?? page.values[page.nameBefore(box)];
  return [positions(page, box), h("div", { class: "map" }, heat(value)),
    cells.strip("vector", "The vector at the chosen position", rowOf(value, page.positionOf(box)))];
}

function bar(fraction) {
  const inside = h("i");
  inside.style.width = `${100 * Math.max(0, Math.min(1, fraction))}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, inside);
}

function logitsView(page) {
  const { place } = page, list = h("ol", { class: "bars next" });
  const showList = () => fill(list, page.likeliest(10).map(({ id, token, logit, probability }) => {
    const isEnd = id === page.config.end_id, label = isEnd ? "end" : shown(token);
    const isWritten = id === page.result.targetIds[page.at]
      || (isEnd && page.at === page.result.targetIds.length);
    const spoken = (text) => h("span", { class: "only-spoken" }, text);
    return h("li", {}, button(`next ${id}`, [h("span", { lang: "de" }, label), bar(probability),
      h("span", {}, percent(probability)),
      h("span", { class: "logit" }, spoken("logit "), number(logit, 1))],
    () => page.choose(id), { disabled: isEnd, "aria-pressed": String(isWritten) }));
  }));
  const told = h("output");
  const tell = () => (told.textContent = number(place.temperature, 1));
  showList();
  tell();
  return [
    h("p", { class: "label" }, h("label", { for: "temperature" }, "Temperature "), told),
    h("input", { type: "range", id: "temperature", "data-key": "temperature", min: 0.1, max: 3,
      step: 0.1, value: place.temperature,
      oninput: ({ target }) => {
        place.temperature = Number(target.value);
        tell();
        showList();
      }, onchange: () => page.go(place.seed === null ? {} : { begin: [], at: null }) }),
    list,
    h("p", { class: "actions" },
      button("draw", "Draw a sentence at this temperature", () => page.go({ begin: [], at: null,
        row: null, key: null, seed: Math.floor(Math.random() * 1e6) })),
      (place.begin.length > 0 || place.seed !== null) && button("greedy",
        "Back to the likeliest words", () => page.go({ begin: [], seed: null, at: null,
          row: null, key: null })))];
}
