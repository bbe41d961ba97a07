"use strict";
// The leaderboard: search, filter by kind, sort by a column.
{
const search = document.querySelector("#search");
const tables = [...document.querySelectorAll("table.board")];

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = new Set([...document.querySelectorAll(".finder .kinds input:checked")].map((each) => each.value));
  let hits = 0, total = 0;
  for (const table of tables) {
    let here = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !kinds.has(row.dataset.kind) || !words.every((word) => row.dataset.text.includes(word));
      here += !row.hidden;
      total += 1;
    }
    table.closest("section").hidden = !here;
    hits += here;
  }
  document.querySelector("#hits").textContent = `${hits} of ${total} rows`;
  document.querySelector("#nothing").hidden = hits > 0;
}

function sort(button) {
  const table = button.closest("table"), heading = button.closest("th"), column = Number(button.dataset.column);
  const up = heading.hasAttribute("aria-sort") ? heading.getAttribute("aria-sort") === "descending" : button.dataset.up === "yes";
  for (const each of table.querySelectorAll("th[aria-sort]")) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = (row) => row.dataset.numbers.split(" , ")[column];
  const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
  // Unknown numbers come last, whichever way the others go.
  rows.sort(([a], [b]) => (a === "") - (b === "") || (up ? a - b : b - a));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

if (search) {
  search.addEventListener("input", show);
  document.querySelector(".finder .kinds").addEventListener("change", show);
  for (const button of document.querySelectorAll("table.board th button")) button.addEventListener("click", () => sort(button));
  show();
}
}
