/* An answer that was chosen stays chosen when its page is opened again: the browser keeps it. */
document.addEventListener("DOMContentLoaded", () => {
  let kept;
  try {
    kept = window.localStorage;
  } catch {
    return; // this browser keeps nothing
  }
  for (const button of document.querySelectorAll("fieldset input[name^=predict-]")) {
    const answer = button.parentNode.textContent;
    button.checked = kept.getItem(button.name) === answer;
    button.addEventListener("change", () => kept.setItem(button.name, answer));
  }
});
