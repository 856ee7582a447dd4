// The guided tour: ten places, each with a few words and one question.

const CAR = "Yesterday I bought a red car.", BOOK = "The teacher gives the child a book.";
const everyLayer = (part) => [0, 1, 2, 3].map((layer) => part.replace("#", layer));

// place: what differs from START; goal: the element that is scrolled to.
const TOUR = [
  { title: "Two sentences", place: { text: CAR },
    words: "Each line shows how much a German token attended to an English one while it was "
      + "written. The strong line belongs to the German token in blue.",
    question: "Which English token does “gekauft” attend to most?",
    answers: ["car, its neighbor", "bought", "Yesterday"], right: 1,
    because: "“gekauft” is the seventh word and “bought” the third: attention does not depend on "
      + "the order of the words." },
  { title: "Tokens", goal: "panel", place: { text: "Whenever it rains, we stay at home.",
    box: "source.tokens" },
  words: "The model reads numbers: each piece of text has an id. ▁ stands for a space.",
  question: "Why does “Whenever” take three tokens?",
  answers: ["It has three syllables", "“Whenever” is not on the list of pieces",
    "It is a conjunction"], right: 1,
  because: "The list holds the pieces that were frequent in the training data. Everything else is "
      + "spelled with shorter pieces, so no word is unknown." },
  { title: "Embedding and position", goal: "panel", place: { word: 3, box: "source.embedding",
    text: "The man gives the boy the ball." },
  words: "Each token has a row of 128 learned numbers. A code of the position is added. Point at a "
    + "cell, or use the arrow keys, to read the sum.",
  question: "Positions 3 and 5 both hold “the”. Choose one, then the other. What stays the same?",
  answers: ["The row of the table", "The sum", "Both"], right: 0,
  because: "The row depends only on the token. The sum differs, because the positions differ." },
  { title: "Without positions", place: { text: BOOK, off: ["source_positions"] },
    words: "The English position codes are switched off. Below the German you see what the whole "
      + "model writes.",
    question: "Now the book gives the child a teacher. Why?",
    answers: ["The model has forgotten the word “book”", "“gives” has another meaning now",
      "The encoder cannot tell which noun comes first"], right: 2,
    because: "Without positions, attention treats the sentence as an unordered set of tokens." },
  { title: "One query, all keys", goal: "panel", place: { text: "The bank by the river is old.",
    box: "encoder.self_attention", layer: 2, head: 1, word: 3 },
  words: "The query of the second “the” meets every key: q · k, divided by √32, then softmax. The "
    + "values are added with these weights.",
  question: "What do the weights in the softmax column add up to?",
  answers: ["32", "100 %", "It depends on the sentence"], right: 1,
  because: "Softmax always gives weights that sum to one. Here almost all of it goes to “river”." },
  { title: "Heads side by side", goal: "panel", place: { text: "The bank by the river is old.",
    box: "encoder.self_attention", layer: 2, head: 1, word: 6 },
  words: "Four heads attend at the same time. Compare the maps of head 1 and head 2: a row is a "
    + "query, a column is a key.",
  question: "What do these two heads attend to?",
  answers: ["Head 1 mostly to the token before, head 2 to the next one",
    "Both to the token itself", "Both to the verb"], right: 0,
  because: "In head 1 the strong cells lie left of the diagonal, in head 2 right of it. Nobody "
    + "programmed this; training found it." },
  { title: "The mask", goal: "panel", place: { text: CAR, box: "decoder.self_attention", layer: 1,
    head: 0 },
  words: "The decoder reads what is written so far. Gray cells are hidden: no token may attend to "
    + "a later one. The last row is about to choose “gekauft”.",
  question: "Which German token gets nearly all of its weight?",
  answers: ["Auto", "Gestern", "habe"], right: 2,
  because: "The verb has two parts, “habe … gekauft”. This head looks back to the first part." },
  { title: "Cross-attention", goal: "text", place: { text: CAR, at: 0,
    off: everyLayer("decoder.layers.#.cross_attention") },
  words: "All cross-attention is switched off, so the decoder receives nothing from the English "
    + "sentence. It still writes German.",
  question: "Type another sentence above, of about the same length. What does it write?",
  answers: ["A translation", "The same German", "Nothing"], right: 1,
  because: "Without cross-attention the decoder is a language model: fluent, and blind to the "
    + "source." },
  { title: "Add & Norm", goal: "panel", place: { text: CAR, box: "encoder.around_self_attention",
    layer: 0, word: 2, off: ["encoder.layers.0.around_self_attention.residual"] },
  words: "In the first encoder layer, x is no longer added to what the attention gives. The German "
    + "falls apart. Switch it on again under the strips.",
  question: "What does the residual connection keep?",
  answers: ["The token's own vector", "The order of the words", "The attention weights"], right: 0,
  because: "Without x, a position holds only what it has gathered. The sub-layers are trained to "
    + "add to a vector, not to replace it." },
  { title: "The next word", goal: "panel", place: { text: BOOK, at: 0, box: "logits" },
    words: "The last vector gives every token a score; softmax makes probabilities. The likeliest "
      + "token is written, and the model starts again with a longer beginning.",
    question: "Choose “Die” in the list. Who gives the book now?",
    answers: ["A female teacher: Die Lehrerin", "The child: Das Kind", "Still Der Lehrer"],
    right: 0,
    because: "Every later choice depends on what is written. Below, follow several beginnings in "
      + "a beam, switch off parts, or replace a vector." },
];

class Tour {
  constructor(page) {
    this.page = page;
    find("start-tour").addEventListener("click", () => this.to(0));
    find("tour").addEventListener("keydown", ({ key }) => key === "Escape" && this.end());
  }

  async to(step) {
    this.answer = null;
    await this.page.go({ ...structuredClone(START), ...TOUR[step].place, tour: step });
    find("tour").querySelector("h2")?.focus({ preventScroll: true });
    this.arrive();
  }

  // What the step tells of comes into view, also where an address leads to a step.
  arrive() {
    const step = TOUR[this.page.place.tour];
    if (step) find(step.goal ?? "picture").scrollIntoView({ block: "start" });
  }

  end() {
    this.page.go({ tour: null });
    find("start-tour").focus();
  }

  show() {
    const { tour } = this.page.place, step = TOUR[tour];
    find("tour").hidden = !step;
    if (!step) return;
    const { title, words, question, answers, right, because } = step;
    fill(find("tour"),
      h("p", { class: "count" }, `${tour + 1} of ${TOUR.length}`),
      h("h2", { tabindex: -1 }, title), h("p", {}, words), h("p", { class: "question" }, question),
      h("div", { class: "choice" }, answers.map((answer, at) => button(`answer ${at}`, answer, () => {
        this.answer = at;
        this.show();
        find("tour").querySelector("[role=status]").scrollIntoView({ block: "nearest" });
      }, { "aria-pressed": String(at === this.answer) }))),
      h("p", { role: "status", class: "told" }, this.answer === null || this.answer === undefined ? ""
        : `${this.answer === right ? "Yes." : "Not quite."} ${because}`),
      h("p", { class: "actions" },
        button("back", "Back", () => this.to(tour - 1), { disabled: tour === 0 }),
        tour + 1 < TOUR.length ? button("next", "Next", () => this.to(tour + 1),
          { class: "strong" }) : null,
        button("end", "End the tour", () => this.end())));
  }
}
