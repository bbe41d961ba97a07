// The page of a run: follows it while it is played; sorts and filters tables of results.
import { button, element, make, searcher } from "./dom.js";
import { follow, parse, replaceContents } from "./live.js";

const live = element("live");
const PARTS = ["state", "results", "list"];
const orders = new Map(); // by the number of the table
let search = "";

const headings = (table) => [...table.tHead.rows[0].cells];

const number = (cell) => {
  const text = cell.firstChild?.textContent ?? "";
  const value = parseFloat(text.replaceAll(",", ""));
  return Number.isNaN(value) ? null : value;
};

/** Order the rows of a table by a column; rows without a number last, published rows stay below ours. */
function order(table, column, falling) {
  const body = table.tBodies[0];
  const numbers = headings(table)[column].classList.contains("number");
  const compare = (a, b) => {
    const below = a.classList.contains("published") - b.classList.contains("published");
    if (below) return below;
    const [left, right] = [a, b].map((row) => numbers ? number(row.cells[column]) : row.cells[column].textContent);
    if (left === null || right === null) return (left === null) - (right === null);
    const sign = left < right ? -1 : left > right ? 1 : 0;
    return falling ? -sign : sign;
  };
  body.append(...[...body.rows].sort(compare));
  headings(table).forEach((cell, index) => {
    cell.ariaSort = index === column ? (falling ? "descending" : "ascending") : "none";
  });
}

function sort(table, index, column) {
  const now = orders.get(index);
  const falling = now?.column === column ? !now.falling : headings(table)[column].classList.contains("number");
  orders.set(index, { column, falling });
  order(table, column, falling);
}

/** Headings of tables become buttons that sort; earlier choices apply to new tables too. */
function prepare() {
  document.querySelectorAll("#results table").forEach((table, index) => {
    headings(table).forEach((cell, column) => {
      const sorter = button("", () => sort(table, index, column), { class: "sort" });
      sorter.append(...cell.childNodes);
      cell.append(sorter);
    });
    const now = orders.get(index);
    if (now) order(table, now.column, now.falling);
  });
  filter();
}

/** Hide rows of results that do not contain the words. */
function filter() {
  const contains = searcher(search);
  for (const row of document.querySelectorAll("#results tbody tr")) row.hidden = !contains(row.textContent);
}

function addFilter() {
  const input = make("input", { type: "search", id: "row-filter" });
  input.addEventListener("input", () => { search = input.value; filter(); });
  element("results").before(make("label", { class: "row-filter" }, "filter rows ", input));
}

const focusable = (part) => [...part.querySelectorAll("a, button, summary")];

function show(fresh) {
  if (!element("list")) {
    live.replaceChildren(...fresh.body.childNodes);
    addFilter();
    prepare();
    return;
  }
  for (const id of PARTS) {
    const old = element(id), part = fresh.getElementById(id);
    if (!part) continue;
    const focus = focusable(old).indexOf(document.activeElement);
    replaceContents(old, part);
    Object.assign(old.dataset, part.dataset);
    if (id === "results") prepare();
    focusable(old)[focus]?.focus({ preventScroll: true });
  }
}

const state = () => element("state");
const address = () => {
  const query = new URLSearchParams(location.search);
  query.set("version", state().dataset.version);
  return `${live.dataset.address}?${query}`;
};

if (element("results")) { addFilter(); prepare(); }
for (const select of document.querySelectorAll("#filters select")) select.addEventListener("change", () => select.form.requestSubmit());

follow(address, async (reply) => {
  if (reply.status === 200) show(parse(await reply.text()));
  return state().dataset.live === "yes";
}, (text) => {
  const place = element("problem");
  if (place.textContent !== text) place.textContent = text;
});
