// The page: it starts the engine, keeps the reader's place, and shows everything again after a
// change. `go` is the one way to change anything.

class Page {
  constructor() {
    this.place = placeOf(location.hash);
    this.sentence = new Sentence(this);
    this.sentence.showText();
    this.experiments = new Experiments(this);
    this.tour = new Tour(this);
    this.stop = new AbortController();
    addEventListener("hashchange", () => {
      if (location.hash !== addressOf(this.place)) this.go(placeOf(location.hash));
    });
    new IntersectionObserver(([{ isIntersecting, boundingClientRect }]) => {
      find("bar").hidden = isIntersecting || boundingClientRect.top > 0 || !this.values;
    }).observe(find("picture"));
    find("bar").addEventListener("click", () => find("text").scrollIntoView({ block: "center" }));
    new ResizeObserver(() => this.values && drawMemory()).observe(find("figure"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
      () => this.values && this.show());
  }

  async start(translator) {
    const engine = await startEngine(translator);
    this.engine?.close();
    this.engine = engine;
    Object.assign(this, { config: engine.config, values: null, translated: undefined });
    this.boxes = boxesOf(this.config);
    find("loading").hidden = true;
    this.showTerms(translator);
    this.experiments.start();
    await this.go({});
    this.tour.arrive();
  }

  get box() {
    return this.boxes.find(({ id }) => id === this.place.box) ?? this.boxes.at(-1);
  }

  // The target token that is explained: the last word, unless the reader has chosen another.
  get at() {
    const { length } = this.result.targetIds, last = this.result.targetTokens.at(-1);
    const usual = length > 1 && /^[.!?]$/.test(last) ? length - 2 : length - 1;
    return Math.min(this.place.at ?? usual, this.result.finished ? length : length - 1);
  }

  get head() {
    return Math.min(this.place.head, this.config.num_heads - 1);
  }

  get layer() {
    return Math.min(this.place.layer, this.config.num_layers - 1);
  }

  positionOf({ side }) {
    const isSource = side === "source", { word, row } = this.place;
    const last = (isSource ? this.sourceTokens : this.targetTokens).length - 1;
    return Math.min((isSource ? word : row) ?? (isSource ? 0 : last), last);
  }

  // The names of a box's value, and of what comes in, as `look` has them.
  nameOf({ id, inLayer }) {
    return inLayer ? id.replace(".", `.layers.${this.layer}.`) : id;
  }

  nameBefore(box) {
    const [stack] = box.id.split("."), inside = this.boxes.filter(({ id, name }) =>
      id.startsWith(`${stack}.`) && name === "AddAndNorm");
    const own = inside.findIndex(({ kind }) => kind === box.kind);
    if (own > 0) return this.nameOf(inside[own - 1]);
    if (own < 0 || this.layer > 0) return this.nameOf(inside.at(-1)).replace(/\d+/, (layer) =>
      own < 0 ? this.config.num_layers - 1 : layer - 1);
    return stack === "encoder" ? "source_input" : "target_input";
  }

  // The likeliest next tokens at the place that is explained, at the reader's temperature.
  likeliest(count) {
    const logits = rowOf(this.values.logits, this.at);
    const scaled = logits.map((logit) => logit / this.place.temperature);
    const most = scaled.reduce((a, b) => Math.max(a, b));
    const total = scaled.reduce((sum, each) => sum + Math.exp(each - most), 0);
    const ids = [], rest = logits.slice();
    while (ids.length < count) {
      const id = rest.reduce((best, each, at) => each > rest[best] ? at : best, 0);
      ids.push(id);
      rest[id] = -Infinity;
    }
    return ids.map((id) => ({ id, token: this.engine.tokens[id], logit: logits[id],
      probability: Math.exp(scaled[id] - most) / total }));
  }

  // Another next token: what is written before stays, and the sentence goes on from there.
  choose(id) {
    const begin = [...this.result.targetIds.slice(0, this.at), id];
    this.go({ begin, at: this.at, seed: null, key: null });
  }

  switchFor(name, label) {
    const { off } = this.place;
    return h("label", { class: "switch" }, h("input", { type: "checkbox", role: "switch",
      checked: !off.includes(name), "data-key": `switch ${name}`,
      onchange: () => this.toggle(name) }), label);
  }

  toggle(...names) {
    const { off } = this.place, areOff = names.every((name) => off.includes(name));
    this.go({ off: areOff ? off.filter((each) => !names.includes(each))
      : [...new Set([...off, ...names])] });
  }

  // ---- a change, and what follows from it -----------------------------------------------------

  async go(changes) {
    this.place = { ...this.place, ...changes };
    this.place.text = wellFormed(this.place.text);
    this.sentence.showText();
    clearTimeout(this.keeping); // browsers refuse an address for every key
    this.keeping = setTimeout(() => history.replaceState(null, "", addressOf(this.place)), 200);
    this.tour.show();
    if (!this.engine) return;
    this.place.off = this.place.off.filter((name) => this.engine.switches.includes(name));
    const { text, begin, off, patch, seed, temperature, at } = this.place;
    const asked = JSON.stringify([text, begin, off, patch, seed, seed === null || temperature]);
    if (this.translated === asked && this.lookedAt === at) return this.show();
    this.stop.abort();
    this.stop = new AbortController();
    const { signal } = this.stop;
    try {
      find("message").textContent = "";
      this.lookedAt = undefined;
      if (this.translated !== asked) {
        this.translated = undefined;
        await this.translate(signal);
        this.translated = asked;
      }
      await this.look(signal);
      this.lookedAt = at;
      this.show();
    } catch (error) {
      if (error.name !== "AbortError") find("message").textContent = error.message;
    }
  }

  // A newer change aborts the signal, and with it whatever is awaited here.
  async translate(signal) {
    const { place, engine } = this, { text, begin, off, seed, temperature } = place;
    this.values = null;
    const given = { off, patches: await this.experiments.patches(signal), signal };
    const result = await engine.translate(text, { ...given, begin,
      ...(seed === null ? {} : { seed, temperature }),
      onStep: ({ ids }) => this.sentence.showGerman(ids.filter((id) => id !== this.config.end_id)
        .map((id) => engine.tokens[id]), false) });
    const { targetTokens, sourceTokens, finished } = result, isEmpty = sourceTokens.length === 0;
    Object.assign(this, { given, result, isEmpty });
    this.sentence.showGerman(targetTokens, finished && !isEmpty);
    this.sentence.showEnglish(sourceTokens);
    const isChanged = off.length || given.patches.length || seed !== null || begin.length;
    this.whole = isChanged && !isEmpty ? (await engine.translate(text, { signal })).text : null;
    this.map = isEmpty ? null : await this.mapOf(text, given, result.targetIds);
  }

  // The lines of the first screen: one cross-attention of the whole sentence.
  async mapOf(text, given, target) {
    const name = `decoder.layers.${this.config.num_layers >> 1}.cross_attention`;
    const { values } = await this.engine.look(text, { ...given, values: [name], target });
    const weights = values[`${name}.weights`], [count, ...rest] = weights.shape;
    const heads = [...Array(count).keys()].filter((head) => !isOff(given.off, name, head));
    return heads.length === 0 ? null : { shape: [heads.length, ...rest],
      data: heads.flatMap((head) => [...rowOf(weights, head)]) };
  }

  // The pass that chooses the next token: the decoder reads what is written before it.
  async look(signal) {
    if (this.isEmpty) return;
    const target = this.result.targetIds.slice(0, this.at);
    this.given.signal = signal;
    Object.assign(this, await this.engine.look(this.place.text, { ...this.given, target }));
  }

  show() {
    const { text } = this.result;
    this.sentence.show(this.map);
    find("inside").hidden = find("experiments").hidden = this.isEmpty;
    this.showChanges();
    if (find("spoken").textContent !== text) find("spoken").textContent = text;
    if (this.isEmpty || !this.values) return;
    const next = this.at === this.result.targetIds.length ? "the end"
      : `“${shown(this.result.targetTokens[this.at])}”`;
    find("chosen").textContent = this.at < this.place.begin.length
      ? `The step at which you chose ${next}` : `How it chose ${next}`;
    fill(find("bar"), h("span", {}, `${this.place.text} → `), h("b", { lang: "de" }, text));
    fill(find("figure"), figure(this));
    drawMemory();
    this.showPanel();
    find("now").textContent = text;
    this.experiments.show();
  }

  showPanel() {
    const { boxes, box } = this, at = boxes.indexOf(box), lessons = document.body.dataset.lessons;
    const step = (to, label) => button(label, label, () => this.go({ box: boxes[to].id,
      key: null }), { disabled: !boxes[to] });
    const layer = box.inLayer ? `, layer ${this.layer + 1}` : "";
    const side = box.inLayer ? ` · ${box.id.split(".")[0]}${layer}` : "";
    fill(find("panel"),
      h("div", { class: "panel-head" }, h("h3", { id: "panel-title" }, box.title,
        h("small", {}, side)), step(at - 1, "Previous box"), step(at + 1, "Next box")),
      h("p", {}, `${box.about} `, h("span", { class: "built" }, "The class: ", lessons
        ? h("a", { href: `${lessons}${box.lesson}.html` }, h("code", {}, box.name))
        : h("code", {}, box.name))),
      box.view(this, box));
  }

  showChanges() {
    const { off, begin, seed, patch } = this.place;
    const told = [off.length && `${off.length} part${off.length > 1 ? "s" : ""} switched off`,
      begin.length && "your beginning", seed !== null && "drawn words",
      patch && patch.from !== null && patch.to !== null && "one vector replaced"].filter(Boolean);
    find("changes").hidden = this.isEmpty || told.length === 0;
    fill(find("changes"), h("span", {}, `With ${told.join(", ")}. Without changes: `,
      h("i", { lang: "de" }, this.whole ?? "")),
    button("reset", "Undo all", () => this.go({ off: [], begin: [], seed: null, patch: null,
      at: null, row: null, key: null })));
  }

  showTerms({ terms, weights, size = weights.byteLength }) {
    const { config } = this;
    find("sizes").textContent = `${config.num_layers} + ${config.num_decoder_layers
      ?? config.num_layers} layers, d_model ${config.d_model}, ${config.num_heads} heads, d_ff `
      + `${config.d_ff}; ${number(size / 1e6, 1)} MB. A toy for learning: it knows the words of `
      + "its training data and little else.";
    fill(find("terms"), terms.split(/\n\s*\n/).map((each) => h("p", {}, each)));
  }
}

// ---- the files ----------------------------------------------------------------------------------

// A translator file: the length of a head as 8 bytes, the head as JSON with the tokenizer and the
// terms, and a model.safetensors.
function readTranslator(buffer) {
  try {
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    const weights = buffer.slice(8 + length);
    return { ...head, weights, size: weights.byteLength };
  } catch {
    throw new Error("the file is incomplete, or not one of a translator.");
  }
}

async function loadTranslator() {
  const held = find("translator");
  if (held) {
    const text = held.content.textContent.trim();
    held.remove(); // 10 MB of text
    if (text.length % 4) throw new Error("the file index.html is incomplete.");
    return bytesOfBase64(text);
  }
  const answer = await fetch("translator.bin").catch((error) => {
    if (location.protocol !== "file:") throw error;
    throw new Error("a page on a disk may not load it. Use the folder for a USB stick.");
  });
  if (!answer.ok) throw new Error(`translator.bin: ${answer.status}`);
  const total = Number(answer.headers.get("content-length")), parts = [];
  let length = 0;
  for (const reader = answer.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).arrayBuffer();
    parts.push(value);
    length += value.length;
    if (total) find("progress").value = length / total;
  }
}

document.documentElement.classList.toggle("framed", window !== top);
// In a lesson, the box that it opens stands under the sentence, not under all other boxes.
if (window !== top && matchMedia("(max-width: 900px)").matches)
  find("panel").after(find("figure"));
const page = new Page();
const refuse = (error) => {
  find("loading").hidden = true;
  find("message").textContent = `The translator could not be loaded: ${error.message}`;
};
loadTranslator().then((buffer) => page.start(readTranslator(buffer))).catch(refuse);
find("other").addEventListener("change", async ({ target: { files } }) => {
  if (files.length) await files[0].arrayBuffer().then((buffer) =>
    page.start(readTranslator(buffer))).catch(refuse);
});
