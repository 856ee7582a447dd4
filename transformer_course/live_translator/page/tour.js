// The guided tour: ten places, each with a few words and one question.

const TOUR = [];

class Tour {
  constructor(page) {
    this.page = page;
    find("start-tour").addEventListener("click", () => this.to(0));
    find("tour").addEventListener("keydown", ({ key }) => key === "Escape" && this.end());
  }

  to(step) {
    this.answer = null;
    this.page.go({ ...structuredClone(START), ...TOUR[step].place, tour: step });
    find("tour").querySelector("h2")?.focus();
    if (!TOUR[step].at) return;
    const goal = find(TOUR[step].at);
    if (goal instanceof HTMLDetailsElement) goal.open = true;
    goal.scrollIntoView({ block: "start" });
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
      }, { "aria-pressed": String(at === this.answer) }))),
      h("p", { role: "status" }, this.answer === null || this.answer === undefined ? ""
        : `${this.answer === right ? "Yes." : "Not quite."} ${because}`),
      h("p", { class: "actions" },
        button("back", "Back", () => this.to(tour - 1), { disabled: tour === 0 }),
        tour + 1 < TOUR.length ? button("next", "Next", () => this.to(tour + 1),
          { class: "strong" }) : null,
        button("end", "End the tour", () => this.end())));
  }
}
