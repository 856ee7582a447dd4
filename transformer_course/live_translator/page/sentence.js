// The first screen: the English tokens, the German tokens, and between them how much each German
// token attended to each English one while it was written.

const EXAMPLES = ["Yesterday I bought a red car.", "The man bites the dog.",
  "The old woman gives the boy an apple.", "Because it rains, we stay at home."];

class Sentence {
  constructor(page) {
    this.page = page;
    this.lines = svg("svg", { "aria-hidden": "true" });
    this.english = h("div", { class: "tokens english", role: "group", "aria-label": "English" });
    this.german = h("div", { class: "tokens german", role: "group", "aria-label": "German",
      lang: "de" });
    find("picture").append(this.english, this.lines, this.german);
    new ResizeObserver(() => this.draw()).observe(find("picture"));
    const text = find("text");
    text.addEventListener("input", () =>
      page.go({ text: text.value, begin: [], at: null, word: null, row: null, key: null }));
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    fill(find("examples"), EXAMPLES.map((example) => button(example, example, () =>
      page.go({ text: example, begin: [], at: null, word: null, row: null, key: null }))));
  }

  // At once: written later, it would come between the keys of a reader who types.
  showText() {
    const text = find("text"), given = this.page.place.text;
    if (wellFormed(text.value) !== given) text.value = given;
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight + 2}px`;
  }

  // While it is written: the tokens so far. Those that are there already stay as they are.
  showGerman(tokens, finished) {
    const { place } = this.page, all = finished ? [...tokens, "</s>"] : tokens;
    all.forEach((token, at) => {
      const old = this.german.children[at];
      if (old?.dataset.token === token) return;
      const label = token === "</s>" ? "end" : shown(token);
      const chip = button(`german ${at}`, label, () => this.page.go({ at, row: null, key: null }),
        { "data-token": token, class: token === "</s>" ? "end" : "new" });
      chip.addEventListener("pointerenter", () => this.draw(at));
      chip.addEventListener("pointerleave", () => this.draw());
      if (old) old.replaceWith(chip);
      else this.german.append(chip);
    });
    while (this.german.children.length > all.length) this.german.lastChild.remove();
    [...this.german.children].forEach((chip, at) =>
      chip.classList.toggle("given", at < place.begin.length));
  }

  showEnglish(tokens) {
    fill(this.english, tokens.map((token, word) => button(`english ${word}`, shown(token), () =>
      this.page.go({ word, key: null, ...(this.page.box.side === "source" ? {}
        : { box: "encoder.self_attention" }) }), {})));
  }

  // weights: { shape: [heads, query, key], data } of one cross-attention, or null.
  show(weights) {
    const { place, at } = this.page;
    this.weights = weights;
    [...this.german.children].forEach((chip, each) =>
      chip.setAttribute("aria-pressed", String(each === at)));
    [...this.english.children].forEach((chip, each) =>
      chip.setAttribute("aria-pressed", String(each === place.word)));
    this.draw();
  }

  // at: of the German token whose lines are strong.
  draw(at = this.page.result && this.page.at) {
    const { english, german, lines, weights } = this, picture = find("picture");
    lines.replaceChildren();
    if (!weights) return;
    const isTall = getComputedStyle(picture).display === "grid", frame = picture
      .getBoundingClientRect();
    const middle = (chip, isEnglish) => {
      const { left, right, top, bottom } = chip.getBoundingClientRect();
      const x = picture.scrollLeft - frame.left, y = -frame.top;
      return isTall ? [x + (isEnglish ? right : left), y + (top + bottom) / 2]
        : [x + (left + right) / 2, y + (isEnglish ? bottom : top)];
    };
    const [heads, queries, keys] = weights.shape;
    const mean = (row, key) => sumOf([...Array(heads).keys()]
      .map((head) => rowOf(weights, head, row)[key])) / heads;
    lines.style.width = `${Math.max(english.scrollWidth, german.scrollWidth)}px`;
    const drawn = [...german.children].slice(0, queries).flatMap((to, row) =>
      [...english.children].slice(0, keys).flatMap((from, key) => {
        const weight = mean(row, key);
        if (weight < 0.04) return [];
        const [x, y] = middle(from, true), [u, v] = middle(to, false);
        const bend = isTall ? `${(x + u) / 2} ${y} ${(x + u) / 2} ${v}`
          : `${x} ${(y + v) / 2} ${u} ${(y + v) / 2}`;
        const line = svg("path", { d: `M${x} ${y}C${bend} ${u} ${v}` });
        line.style.strokeWidth = `${0.5 + 7 * weight}px`;
        line.style.opacity = row === at ? 0.3 + 0.7 * weight : 0.25 * weight + 0.03;
        return line;
      }));
    lines.append(...drawn);
    [...english.children].forEach((chip, key) =>
      chip.classList.toggle("attended", at < queries && key < keys && mean(at, key) > 0.25));
  }
}
