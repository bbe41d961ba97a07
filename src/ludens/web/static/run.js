// The page of a run: follows it while it is played; sorts and filters tables of results.
import { follow, parse, replaceContents } from "./live.js";

const live = document.getElementById("live");
const PARTS = ["state", "results", "list"];
const sorted = new Map();
let wanted = "";

const number = (cell) => {
  const text = cell.firstChild?.textContent ?? "";
  const value = parseFloat(text.replaceAll(",", ""));
  return Number.isNaN(value) ? null : value;
};

/** Order the rows of a table by a column; rows without a number last, published rows stay below ours. */
function order(table, column, falling) {
  const body = table.tBodies[0];
  const numbers = table.tHead.rows[0].cells[column].classList.contains("number");
  const compare = (a, b) => {
    const below = a.classList.contains("published") - b.classList.contains("published");
    if (below) return below;
    const [left, right] = [a, b].map((row) => numbers ? number(row.cells[column]) : row.cells[column].textContent);
    if (left === null || right === null) return (left === null) - (right === null);
    const sign = left < right ? -1 : left > right ? 1 : 0;
    return falling ? -sign : sign;
  };
  body.append(...[...body.rows].sort(compare));
  [...table.tHead.rows[0].cells].forEach((cell, index) => {
    cell.ariaSort = index === column ? (falling ? "descending" : "ascending") : "none";
  });
}

function sort(table, index, column) {
  const now = sorted.get(index);
  const falling = now?.column === column ? !now.falling : table.tHead.rows[0].cells[column].classList.contains("number");
  sorted.set(index, { column, falling });
  order(table, column, falling);
}

/** Headings of tables become buttons that sort; earlier choices apply to new tables too. */
function prepare() {
  document.querySelectorAll("#results table").forEach((table, index) => {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...cell.childNodes);
      button.addEventListener("click", () => sort(table, index, column));
      cell.append(button);
    });
    const chosen = sorted.get(index);
    if (chosen) order(table, chosen.column, chosen.falling);
  });
  filter();
}

/** Hide rows of results that do not contain the words. */
function filter() {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of document.querySelectorAll("#results tbody tr")) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
}

function addFilter() {
  const label = document.createElement("label");
  label.className = "row-filter";
  const input = document.createElement("input");
  input.type = "search";
  input.id = "row-filter";
  input.addEventListener("input", () => { wanted = input.value; filter(); });
  label.append("filter rows ", input);
  document.getElementById("results").before(label);
}

/** The place of the focus in a part, so that it can be restored after the part was replaced. */
function focusPath(part) {
  const all = [...part.querySelectorAll("a, button, summary")];
  return all.indexOf(document.activeElement);
}

function show(made) {
  const first = !document.getElementById("list");
  if (first) {
    live.replaceChildren(...made.body.childNodes);
    addFilter();
  } else {
    for (const id of PARTS) {
      const old = document.getElementById(id), part = made.getElementById(id);
      if (!part) continue;
      const focus = focusPath(old);
      replaceContents(old, part);
      Object.assign(old.dataset, part.dataset);
      if (id === "results") prepare();
      if (focus >= 0) old.querySelectorAll("a, button, summary")[focus]?.focus({ preventScroll: true });
    }
    return;
  }
  prepare();
}

const state = () => document.getElementById("state");
const address = () => {
  const query = new URLSearchParams(location.search);
  query.set("version", state().dataset.version);
  return `${live.dataset.address}?${query}`;
};

if (document.getElementById("results")) { addFilter(); prepare(); }
for (const select of document.querySelectorAll("#filters select")) select.addEventListener("change", () => select.form.requestSubmit());

follow(address, async (reply) => {
  if (reply.status === 200) show(parse(await reply.text()));
  return state().dataset.live === "yes";
}, (text) => {
  const place = document.getElementById("problem");
  if (place.textContent !== text) place.textContent = text;
});
