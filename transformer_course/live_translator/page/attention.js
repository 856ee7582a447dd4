// One attention, opened: its heads side by side, and one query of one head step by step.

const HIDDEN = null; // a weight that the mask does not allow

const isOff = (off, name, head) =>
  [name, `${name}.heads.${head}`].some((each) => off.includes(each));

function weightsOf(page, name, head) {
  const weights = page.values[`${name}.weights`], mask = page.values[`${name}.mask`];
  const [, queries, keys] = weights.shape;
  return [...Array(queries).keys()].map((query) => [...rowOf(weights, head, query)].map(
    (weight, key) => mask && !mask.data[query * keys + key] ? HIDDEN : weight));
}

// Rows are queries, columns are keys; what the mask hides is gray.
function weightMap(page, name, head) {
  const rows = weightsOf(page, name, head);
  return cellsOf(rows.length, rows[0].length, rows.flat(), weightColors());
}

function attentionView(page, box) {
  const { place, config } = page, name = page.nameOf(box), { head } = page;
  const query = page.positionOf(box), isCross = box.kind === "cross_attention";
  const keyTokens = box.side === "source" || isCross ? page.sourceTokens : page.targetTokens;
  const queryTokens = box.side === "source" ? page.sourceTokens : page.targetTokens;
  const weights = weightsOf(page, name, head)[query];
  const key = Math.min(place.key ?? weights.indexOf(Math.max(...weights)), weights.length - 1);
  const part = (what, ...at) => rowOf(page.values[`${name}.${what}`], head, ...at);
  const [q, k, v, gathered] = [part("queries", query), part("keys", key), part("values", key),
    part("heads", query)];
  const scores = part("scores", query), root = Math.sqrt(q.length), cells = new Cells();
  const products = times(q, k), weighted = v.map((each) => each * (weights[key] ?? 0));
  const word = (at) => `“${shown(keyTokens[at])}”`, asking = `“${shown(queryTokens[query])}”`;
  const step = (count, title, ...parts) =>
    h("section", { class: "step" }, h("h4", {}, `${count} · ${title}`), parts);
  return [
    h("div", { class: "heads", role: "group", "aria-label": "Heads" },
      [...Array(config.num_heads).keys()].map((each) => button(`head ${each}`,
        [h("span", {}, `head ${each + 1}`), weightMap(page, name, each)],
        () => page.go({ head: each, key: null }), { "aria-pressed": String(each === head),
          class: isOff(place.off, name, each) ? "off" : "" }))),
    h("p", { class: "hint" }, "A row for each query, a column for each key. The stronger the "
      + `color, the more weight${page.values[`${name}.mask`] ? "; gray is hidden" : ""}.`),
    positions(page, box),
    step(1, `The query of ${asking} meets every key`,
      h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {},
        ["key", "q · k", `÷ √${q.length}`, "mask", "softmax"].map((title) =>
          h("th", { scope: "col" }, title)))),
      h("tbody", {}, keyTokens.slice(0, weights.length).map((token, at) => h("tr",
        { class: at === key ? "chosen" : "" },
        h("th", { scope: "row" }, button(`key ${at}`, shown(token), () => page.go({ key: at }),
          { "aria-pressed": String(at === key) })),
        h("td", {}, number(scores[at] * root, 2)), h("td", {}, number(scores[at], 2)),
        h("td", {}, weights[at] === HIDDEN ? "hidden" : "open"),
        h("td", {}, bar(weights[at] ?? 0), percent(weights[at] ?? 0)))))))),
    step(2, `q · k for ${word(key)}, cell by cell`,
      cells.strip("q", `q of ${asking}`, q), cells.strip("k", `k of ${word(key)}`, k),
      cells.strip("qk", "q × k", products),
      cells.told(q.length, (i) => `${number(q[i])} × ${number(k[i])} = ${number(products[i])}; all `
        + `${q.length} together ${number(sumOf(products), 2)}, ÷ ${number(root, 2)} = `
        + number(scores[key], 2))),
    step(3, "The values, weighted and added",
      cells.strip("v", `v of ${word(key)}`, v),
      cells.strip("wv", `× its weight ${number(weights[key] ?? 0)}`, weighted, largestOf(v)),
      cells.strip("gathered", `what head ${head + 1} gathers from all keys`, gathered,
        largestOf(v)),
      cells.told(v.length, (i) => sumOfValues(page, name, head, weights, i, gathered[i]))),
    step(4, "The heads side by side, through W_O",
      cells.strip("heads", `${config.num_heads} heads × ${q.length} numbers`,
        [...Array(config.num_heads).keys()].flatMap((each) =>
          [...rowOf(page.values[`${name}.heads`], each, query)])),
      cells.strip("output", "what the attention gives", rowOf(page.values[name], query))),
    h("p", { class: "actions" }, page.switchFor(`${name}.heads.${head}`, `Use head ${head + 1}`),
      page.switchFor(name, "Use this attention"),
      box.id === "decoder.self_attention"
        ? page.switchFor("causal_mask", "Hide the future: the mask") : null)];
}

// "0.93 × 0.21 + 0.04 × −0.10 + … = 0.19", the largest terms first.
function sumOfValues(page, name, head, weights, i, sum) {
  const values = page.values[`${name}.values`];
  const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 3);
  const terms = order.filter((at) => weights[at] > 0).map((at) =>
    `${number(weights[at], 2)} × ${number(rowOf(values, head, at)[i], 2)}`);
  return `${terms.join(" + ")}${weights.length > terms.length ? " + …" : ""} = ${number(sum, 2)}`;
}
