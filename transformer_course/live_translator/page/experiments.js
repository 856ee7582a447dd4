// What a reader can change: parts switched off, the search, a vector from another sentence.

class Experiments {
  constructor(page) {
    this.page = page;
    for (const name of ["switches", "beam", "patch"])
      find(name).addEventListener("toggle", () => this.show());
  }

  start() {
    this.other = null;
    this.tree = null;
  }

  async show() {
    const { page } = this;
    if (!page.engine || !page.values) return;
    const into = (name, ...views) => fill(find(name).querySelector("div"), ...views);
    if (find("switches").open) into("switches", this.switches());
    if (find("patch").open) await this.showPatch();
    if (!find("beam").open) return;
    const views = await this.beam();
    if (views) into("beam", ...views);
  }

  // ---- switches ---------------------------------------------------------------------------------

  switches() {
    const { page } = this, { config, place } = page;
    const toggle = (names, label, spoken) => button(`off ${names}`, label,
      () => page.toggle(...names), { "aria-pressed": String(!names.every((name) =>
        place.off.includes(name))), "aria-label": spoken });
    const heads = [...Array(config.num_heads).keys()];
    const parts = { encoder: ["self_attention", "feed_forward"],
      decoder: ["self_attention", "cross_attention", "feed_forward"] };
    const words = { self_attention: "self-attention", cross_attention: "cross-attention",
      feed_forward: "feed-forward" };
    const cell = (stack, layer, part) => {
      const name = `${stack}.layers.${layer}.${part}`;
      const where = `${stack} layer ${layer + 1}, ${words[part]}`;
      return h("td", {}, h("div", {}, toggle([name], "all", `${where}, all of it`),
        part === "feed_forward" ? null : heads.map((head) =>
          toggle([`${name}.heads.${head}`], String(head + 1), `${where}, head ${head + 1}`)),
        toggle([name.replace(part, `around_${part}.residual`)], "x +", `${where}, residual x +`)));
    };
    const table = (stack) => h("div", { class: "scroll" }, h("table", { class: "switches" },
      h("caption", {}, `The ${stack}`), h("thead", {}, h("tr", {}, h("th", { scope: "col" },
        "layer"), parts[stack].map((part) => h("th", { scope: "col" }, words[part])))),
      h("tbody", {}, [...Array((stack === "decoder" && config.num_decoder_layers)
        || config.num_layers).keys()].map((layer) => h("tr", {},
        h("th", { scope: "row" }, String(layer + 1)),
        parts[stack].map((part) => cell(stack, layer, part)))))));
    const every = (stack, part) => [...Array(config.num_layers).keys()].map((layer) =>
      `${stack}.layers.${layer}.${part}`);
    return [h("p", {}, "Press a part to switch it off; press it again to switch it on. A number "
      + "is a head, x + is the residual connection."),
    h("p", { class: "actions" },
      toggle(["source_positions", "target_positions"], "positions"),
      toggle(["causal_mask"], "mask"),
      toggle(every("encoder", "self_attention"), "all self-attention of the encoder"),
      toggle(every("decoder", "self_attention"), "all self-attention of the decoder"),
      toggle(every("decoder", "cross_attention"), "all cross-attention")),
    table("encoder"), table("decoder")];
  }

  // ---- the beam as a tree -------------------------------------------------------------------------

  async beam() {
    const { page } = this, { place, given, engine } = page;
    const asked = JSON.stringify([place.text, place.width, place.off, place.patch]);
    if (this.tree?.asked !== asked) {
      const steps = [], result = await engine.translate(place.text, { ...given,
        width: place.width, onStep: (step) => steps.push(step.branches) }).catch(() => null);
      if (!result) return null; // another search has been asked for
      this.tree = { asked, steps, result };
    }
    const { steps, result } = this.tree, best = result.hypotheses[0];
    const path = (step, at) => at < 0 || step < 0 ? []
      : [...path(step - 1, steps[step][at].parent), steps[step][at]];
    const idsOf = (step, at) => path(step, at).map(({ id }) => id);
    const WIDE = 112, HIGH = 46;
    const tree = h("div", { class: "tree" });
    tree.style.width = `${steps.length * WIDE}px`;
    tree.style.height = `${place.width * HIGH}px`;
    const lines = svg("svg", { "aria-hidden": "true" });
    tree.append(lines);
    steps.forEach((branches, step) => branches.forEach((branch, at) => {
      const ids = idsOf(step, at), isBest = [...best.ids, page.config.end_id].slice(0, ids.length)
        .every((id, each) => id === ids[each]) && ids.length <= best.ids.length + 1;
      const label = branch.finished ? "end" : shown(branch.token);
      const node = button(`node ${step} ${at}`, [h("b", { lang: "de" }, label),
        h("small", {}, number(branch.score, 2))],
      () => page.go({ begin: branch.finished ? ids.slice(0, -1) : ids, at: null, seed: null }),
      { class: `${isBest ? "best" : ""} ${branch.finished ? "end" : ""}`, "aria-label":
        `step ${step + 1}: ${path(step, at).map(({ token }) => shown(token)).join(" ")}, score `
        + number(branch.score, 2) });
      node.style.left = `${step * WIDE}px`;
      node.style.top = `${at * HIGH}px`;
      tree.append(node);
      if (step === 0) return;
      const [x, y, v] = [step * WIDE, (at + 0.42) * HIGH, (branch.parent + 0.42) * HIGH];
      lines.append(svg("path", { d: `M${x - 22} ${v}C${x - 8} ${v} ${x - 14} ${y} ${x} ${y}`,
        class: isBest ? "best" : "" }));
    }));
    return [h("p", {}, "At every step the most probable beginnings are kept. The number is a "
      + "score: the log-probability so far, divided by a penalty for the length. Choose a token to "
      + "go on from there."),
    h("p", { class: "label" }, "Beam width"),
    choice("width", "Beam width", ["2", "3", "4", "5"], place.width - 2, (at) =>
      page.go({ width: at + 2 })),
    h("div", { class: "scroll" }, tree),
    h("p", {}, "The best: ", h("b", { lang: "de" }, best.text), ` ${number(best.score, 2)}`)];
  }

  // ---- a vector from another sentence -----------------------------------------------------------

  get places() {
    const layers = [...Array(this.page.config.num_layers).keys()];
    return [["source_input", "Embedding + position"], ...layers.map((layer) =>
      [`encoder.layers.${layer}.around_feed_forward`, `After encoder layer ${layer + 1}`]),
    ["encoder.final_norm", "Memory"]];
  }

  // What `patches` of the engine takes, with the vector looked up in the other sentence.
  async patches(signal) {
    const { place, engine } = this.page, { patch } = place;
    if (!patch || patch.from === null || patch.to === null || !patch.text.trim()) return [];
    if (!this.places.some(([name]) => name === patch.name)) return [];
    const { values } = await engine.look(patch.text, { target: [], values: [patch.name],
      signal });
    const value = values[patch.name];
    return patch.from < value.shape[0]
      ? [{ name: patch.name, position: patch.to, vector: rowOf(value, patch.from).slice() }] : [];
  }

  async showPatch() {
    const { page } = this, { place, engine } = page;
    const patch = place.patch ?? { text: "The cat is sleeping.", name: "encoder.final_norm",
      from: null, to: null };
    const set = (changes) => page.go({ patch: { ...patch, ...page.place.patch, ...changes } });
    const tokens = patch.text.trim() ? (await engine.look(patch.text, { target: [],
      values: ["nothing"] })).sourceTokens : [];
    const typed = document.activeElement;
    if (typed?.dataset.key === "patch text" && wellFormed(typed.value) !== patch.text) return;
    const at = Math.max(0, this.places.findIndex(([name]) => name === patch.name));
    fill(find("patch").querySelector("div"),
      h("p", {}, "The vector of one token of the other sentence takes the place of one of "
        + "yours. Which part of the translation changes?"),
      h("label", { class: "label" }, "The other sentence", h("input", { type: "text",
        "data-key": "patch text", maxlength: 300, value: patch.text, spellcheck: "false",
        onchange: ({ target }) => set({ text: wellFormed(target.value), from: null }) })),
      h("p", { class: "label" }, "Where"),
      choice("patch at", "Where", this.places.map(([, title]) => title), at,
        (each) => set({ name: this.places[each][0] })),
      h("p", { class: "label" }, "Take the vector of"),
      choice("patch from", "Take the vector of", tokens.map(shown), patch.from,
        (from) => set({ from }), { class: "choice tokens" }),
      h("p", { class: "label" }, "and put it in the place of"),
      choice("patch to", "Put it in the place of", page.sourceTokens.map(shown), patch.to,
        (to) => set({ to }), { class: "choice tokens" }),
      place.patch && h("p", { class: "actions" }, button("patch out", "Take it out",
        () => page.go({ patch: null }))));
  }
}
