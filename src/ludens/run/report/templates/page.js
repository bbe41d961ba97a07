"use strict";
for (const form of document.querySelectorAll(".filters")) {
  const cards = [...form.nextElementSibling.children];
  const show = () => {
    const wanted = Object.fromEntries(new FormData(form));
    let shown = 0;
    for (const card of cards) {
      const fits = (!wanted.task || card.dataset.task === wanted.task)
        && (!wanted.entrant || card.dataset.entrant === wanted.entrant)
        && (!wanted.kind || card.dataset.kind.split(" ").includes(wanted.kind));
      card.hidden = !fits;
      shown += fits;
    }
    form.querySelector("output").textContent = shown + " of " + cards.length + " episodes";
  };
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}
const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.matches("details")) {
    target.hidden = false;
    target.open = true;
    target.scrollIntoView();
  }
};
window.addEventListener("hashchange", open);
open();
