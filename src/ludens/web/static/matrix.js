// The content of every cell: choose a content, then cells in the grid or on the picture; dragging paints.
import { ARROWS, button, fill, make } from "./dom.js";

const ERASERS = ["Backspace", "Delete", "0"];

export function matrix(form, content, tools) {
  const width = form.columns.length;
  const size = width * form.rows.length;
  const [[empty]] = form.contents;
  const marks = new Map(form.contents.map(([code, mark, meaning]) => [code, { mark, meaning }]));
  const cells = content?.length === size ? [...content] : Array(size).fill(empty);
  let brush = form.contents[1]?.[0] ?? empty;
  let painting = false;
  const palette = make("div", { class: "actions", role: "radiogroup", "aria-label": "Content" });
  const name = (index) => `${form.rows[Math.floor(index / width)]}${form.columns[index % width]}`;

  function paint(index, code = brush) {
    cells[index] = code;
    const { mark, meaning } = marks.get(code);
    grid[index].textContent = mark;
    grid[index].setAttribute("aria-label", `${name(index)}: ${meaning}`);
    grid[index].classList.toggle("filled", code !== empty);
    tools.changed();
  }
  const grid = cells.map((_, index) => {
    const cell = make("button", { type: "button", class: "cell", tabIndex: index ? -1 : 0, "data-cell": String(index) });
    cell.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      cell.releasePointerCapture?.(event.pointerId);
      painting = true;
      focus(index);
      paint(index);
    });
    cell.addEventListener("pointerenter", () => { if (painting) paint(index); });
    cell.addEventListener("click", (event) => { if (event.detail === 0) paint(index); });
    cell.addEventListener("keydown", (event) => key(event, index));
    return cell;
  });
  function focus(index) {
    grid.forEach((cell, other) => { cell.tabIndex = other === index ? 0 : -1; });
    grid[index].focus({ preventScroll: true });
  }
  function key(event, index) {
    const [right, down] = ARROWS[event.key] ?? [0, 0];
    const next = index + right + down * width;
    if (next !== index && grid[next]) { event.preventDefault(); focus(next); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const entry = form.contents.find(([, mark]) => mark === event.key) || form.contents.find(([, mark]) => mark && mark.toLowerCase() === event.key.toLowerCase());
    if (!entry && !ERASERS.includes(event.key)) return;
    event.preventDefault();
    paint(index, entry ? entry[0] : empty);
    if (grid[index + 1]) focus(index + 1);
  }
  function choose(code) {
    brush = code;
    fill(palette, form.contents, ([each, mark, meaning]) => button(mark && mark !== meaning ? `${mark} ${meaning}` : meaning, () => choose(each),
      { role: "radio", "aria-checked": String(each === brush), "data-action": String(each) }));
  }
  const table = make("div", { class: "grid", role: "group", "aria-label": "Your copy of the board" });
  table.style.gridTemplateColumns = `auto repeat(${width}, minmax(0, 1fr))`;
  table.append(make("span"), ...form.columns.map((label) => make("span", { class: "fine", textContent: label })));
  form.rows.forEach((label, row) => table.append(make("span", { class: "fine", textContent: label }), ...grid.slice(row * width, (row + 1) * width)));
  table.classList.toggle("dense", width > 9);
  window.addEventListener("pointerup", () => { painting = false; });
  // A finger stays captured by the cell it began on, so what is below it is looked up.
  table.addEventListener("pointermove", (event) => {
    if (!painting) return;
    const under = document.elementFromPoint(event.clientX, event.clientY)?.dataset?.cell;
    if (under !== undefined && cells[Number(under)] !== brush) paint(Number(under));
  });
  const clear = button("Clear", () => { cells.forEach((_, index) => paint(index, empty)); });
  const send = button("Send", () => tools.send(JSON.stringify(cells)), { class: "primary" });
  choose(brush);
  cells.forEach((code, index) => paint(index, code));
  return {
    box: make("div", { class: "matrix" }, palette, table, make("p", { class: "row" }, clear, " ", send)),
    content: () => (cells.some((code) => code !== empty) ? cells : null),
    pick: (index) => paint(Number(index)),
    label: (index) => name(Number(index)),
  };
}
