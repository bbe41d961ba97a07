// Points on the picture: click or tap to set one, drag to move it. Arrow keys move the point in focus.
import { ARROWS, button, fill, make } from "./dom.js";

const NUDGE = 0.01;
const SVG = "http://www.w3.org/2000/svg";

export function draw(form, content, tools) {
  const paths = form.paths.map((_, index) => (content?.[index] || []).map((point) => [...point]));
  let active = Math.max(0, paths.findIndex((path) => path.length < form.points));
  let layer = null;
  let dragged = null;
  const tabs = make("div", { class: "actions", role: "group", "aria-label": "Which path" });
  const hint = make("p", { class: "fine", role: "status" });

  const clamp = (value) => Math.min(1, Math.max(0, value));
  function position(event) {
    const box = layer.getBoundingClientRect();
    return [clamp((event.clientX - box.left) / box.width), clamp((event.clientY - box.top) / box.height)];
  }
  function redraw() {
    fill(tabs, form.paths, (name, index) => button(
      `${name}: ${paths[index].length} of ${form.points}`, () => { active = index; redraw(); },
      { class: `path path-${index}`, "aria-pressed": String(index === active) }));
    const rest = form.points - paths[active].length;
    hint.textContent = rest
      ? `${form.paths[active]}: choose ${rest} more point${rest > 1 ? "s" : ""} on the picture.`
      : `${form.paths[active]} is complete. Drag a point to move it.`;
    paint();
    tools.changed();
  }
  function paint() {
    if (!layer) return;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 1 1");
    svg.setAttribute("preserveAspectRatio", "none");
    paths.forEach((path, index) => {
      const line = document.createElementNS(SVG, "polyline");
      line.setAttribute("points", path.map((point) => point.join(",")).join(" "));
      line.setAttribute("class", `stroke path-${index}`);
      svg.append(line);
    });
    const focused = document.activeElement?.dataset?.point;
    const dots = paths.flatMap((path, index) => path.map((point, number) => {
      const dot = button(String(number + 1), () => {}, {
        class: `dot path-${index}`, "data-point": `${index}:${number}`, "aria-label": `${form.paths[index]}, point ${number + 1}`,
      });
      Object.assign(dot.style, { left: `${point[0] * 100}%`, top: `${point[1] * 100}%` });
      dot.addEventListener("keydown", (event) => nudge(event, index, number));
      return dot;
    }));
    layer.replaceChildren(svg, ...dots);
    if (focused) layer.querySelector(`[data-point="${focused}"]`)?.focus();
  }
  function nudge(event, index, number) {
    const step = ARROWS[event.key];
    if (!step) return;
    event.preventDefault();
    paths[index][number] = paths[index][number].map((value, axis) => clamp(value + NUDGE * step[axis]));
    redraw();
  }
  function down(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    const dot = event.target.dataset.point;
    if (dot) dragged = dot.split(":").map(Number);
    else if (paths[active].length < form.points) {
      paths[active].push(position(event));
      dragged = [active, paths[active].length - 1];
    } else return;
    layer.setPointerCapture(event.pointerId);
    redraw();
  }
  function move(event) {
    if (!dragged) return;
    paths[dragged[0]][dragged[1]] = position(event);
    paint();
  }
  function up() {
    if (!dragged) return;
    dragged = null;
    const complete = paths[active].length === form.points;
    const waiting = paths.findIndex((path) => path.length < form.points);
    if (complete && waiting >= 0) active = waiting;
    redraw();
  }
  const undo = button("Undo", () => {
    const index = paths[active].length ? active : paths.findLastIndex((path) => path.length);
    if (index >= 0) { paths[index].pop(); active = index; }
    redraw();
  });
  const clear = button("Start over", () => { paths.forEach((path) => path.splice(0)); active = 0; redraw(); });
  const send = button("Send", () => tools.send(JSON.stringify(paths)), { class: "primary" });
  redraw();
  return {
    box: make("div", {}, tabs, hint, make("p", { class: "row" }, undo, " ", clear, " ", send)),
    content: () => (paths.some((path) => path.length) ? paths : null),
    /** Called with the layer over the last picture. */
    cover: (over) => {
      if (layer === over) { paint(); return; }
      layer = over;
      layer.classList.add("drawing");
      layer.addEventListener("pointerdown", down);
      layer.addEventListener("pointermove", move);
      layer.addEventListener("pointerup", up);
      layer.addEventListener("pointercancel", up);
      paint();
    },
  };
}
