/* The lessons as slides: one line of pages, which arrow keys, space and a presenter's remote walk. */
Reveal.initialize({
  width: 1024,
  height: 768,
  margin: 0,
  minScale: 0.1,
  maxScale: 4,
  center: false,
  hash: true,
  navigationMode: "linear",
  transition: "none",
  slideNumber: "c/t",
  plugins: [RevealNotes],
});
/* An answer that was clicked would keep the arrow keys for itself. */
document.addEventListener("click", () => {
  if (document.activeElement.type === "radio") document.activeElement.blur();
});
