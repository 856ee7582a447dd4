/* An answer that was chosen stays chosen when its page is opened again: the browser keeps it. The
   review asks again what was wrong, so a choice that follows the opened outcome is not kept. */
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
    const outcome = button.closest("fieldset").querySelector("details");
    button.addEventListener("change", () => {
      if (!outcome?.open || kept.getItem(button.name) === null) kept.setItem(button.name, answer);
    });
  }
});
