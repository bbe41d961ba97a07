// Pictures, and what can be chosen on the last of them: a cell, or a piece and then where it goes, by clicks,
// by dragging, or with arrow keys and Enter. The same choices are in the form beside the picture.
import { ARROWS, button, element, make } from "./dom.js";

const chosen = { key: "", path: [] };
const DRAG = 6; // pixels from which a press is a drag
let focused = null;

export function show_pictures(box, data, controller) {
  const pictures = data.images || [];
  box.dataset.layout = pictures.length > 1 || data.layout === "pages" ? data.layout : "single";
  while (box.children.length > pictures.length) box.lastElementChild.remove();
  pictures.forEach((picture, index) => {
    let frame = box.children[index];
    if (!frame) {
      const image = make("img");
      frame = make("div", { class: "picture" }, image, make("div", { class: "places" }),
        button("⤢", () => enlarge(image), { class: "enlarge", "aria-label": "Enlarge the picture", title: "Enlarge the picture" }));
      box.append(frame);
    }
    const [image, layer] = frame.children;
    const last = index === pictures.length - 1;
    // CSSOM is allowed by the policy; style attributes are not.
    frame.style.aspectRatio = `${picture.width} / ${picture.height}`;
    frame.classList.toggle("last", last);
    image.alt = (last && data.text) || data.captions?.[index] || "The picture of the game";
    if (image.src !== picture.src) image.src = picture.src;
    const answered = controller && (controller.cover || data.form.places?.length);
    const places = Boolean(answered) && index === place_of(data, pictures);
    layer.classList.toggle("plain", !places);
    layer.onclick = places ? null : () => enlarge(image);
    if (places && controller.cover) controller.cover(layer);
    else show_places(layer, places ? data : null, controller);
  });
}

/** Places are on the last picture; of a panel with its manual, on the first. */
const place_of = (data, pictures) => (data.layout === "pages" ? 0 : pictures.length - 1);

function enlarge(image) {
  const dialog = element("enlarged");
  dialog.querySelector("img").src = image.src;
  dialog.querySelector("img").alt = image.alt;
  dialog.showModal();
}

function show_places(layer, data, controller) {
  const key = data ? JSON.stringify([data.game, data.turn, data.refused]) : "";
  if (chosen.key !== key) { chosen.key = key; chosen.path = []; }
  const had_focus = layer.contains(document.activeElement);
  layer.replaceChildren();
  layer.classList.remove("targets");
  const form = data?.form;
  if (!form?.places?.length) return;
  const depth = chosen.path.length;
  const paths = Object.entries(form.actions).filter(([, path]) => chosen.path.every((place, i) => path[i] === place));
  const next = new Map();
  for (const [action, path] of paths) {
    if (path.length > depth) next.set(path[depth], [...(next.get(path[depth]) || []), [action, path]]);
  }
  const redraw = () => show_places(layer, data, controller);
  const reset = () => { chosen.path = []; redraw(); };
  layer.classList.toggle("targets", depth > 0);
  if (depth) {
    const from = chosen.path[depth - 1];
    add(layer, form.places[from], from, "place chosen", "Choose another", reset);
    // Another piece can be chosen at once.
    for (const other of new Set(Object.values(form.actions).map((path) => path[0]))) {
      if (other !== from && !next.has(other)) {
        add(layer, form.places[other], other, "place other", "Another piece", () => { chosen.path = [other]; redraw(); });
      }
    }
  }
  for (const [place, options] of next) {
    const last = options.filter(([, path]) => path.length === depth + 1);
    const go = () => {
      focused = place;
      if (last.length < options.length) { chosen.path = [...chosen.path, place]; redraw(); return; }
      if (last.length > 1) { choose(layer, form.places[place], last.map(([action]) => action), controller, redraw); return; }
      chosen.path = [];
      controller.pick(last[0][0]);
      redraw();
    };
    const names = options.map(([action]) => controller.label(action));
    const label = options.length > 4 ? `${names.length} choices, ${names[0]} to ${names[names.length - 1]}` : names.join(", ");
    const target = add(layer, form.places[place], place, "place", label, go);
    target.dataset.action = options[0][0];
    if (depth === 0 && last.length === 0) drag(target, layer, form, place, () => { chosen.path = [place]; redraw(); }, reset);
  }
  rove(layer, had_focus);
}

function add(layer, [x, y, width, height], place, name, label, click) {
  const target = button("", click, { class: name, title: label, "aria-label": label, tabIndex: -1, "data-place": String(place) });
  Object.assign(target.style, { left: `${x * 100}%`, top: `${y * 100}%`, width: `${width * 100}%`, height: `${height * 100}%` });
  layer.append(target);
  return target;
}

/** One stop of the tab key for the whole picture; arrow keys go to the nearest place in their direction. */
function rove(layer, had_focus) {
  const all = [...layer.querySelectorAll(".place")];
  const here = all.find((place) => Number(place.dataset.place) === focused) || all[0];
  if (!here) return;
  here.tabIndex = 0;
  if (had_focus) here.focus({ preventScroll: true });
  layer.onkeydown = (event) => {
    const way = ARROWS[event.key];
    const from = event.target.closest(".place");
    if (event.key === "Escape" && chosen.path.length) { layer.querySelector(".chosen")?.click(); return; }
    if (!way || !from) return;
    event.preventDefault();
    event.stopPropagation();
    const middle = (place) => { const box = place.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
    const [x, y] = middle(from);
    const ranked = all.map((place) => {
      const [right, down] = [middle(place)[0] - x, middle(place)[1] - y];
      const along = right * way[0] + down * way[1];
      const aside = Math.abs(right * way[1]) + Math.abs(down * way[0]);
      return { place, along, cost: along + 3 * aside };
    }).filter(({ along }) => along > 2).sort((a, b) => a.cost - b.cost);
    if (!ranked.length) return;
    from.tabIndex = -1;
    ranked[0].place.tabIndex = 0;
    ranked[0].place.focus({ preventScroll: true });
    focused = Number(ranked[0].place.dataset.place);
  };
}

/** Drag a piece to where it goes: its part of the picture follows the pointer. */
function drag(piece, layer, form, place, take, drop) {
  piece.classList.add("piece");
  piece.addEventListener("pointerdown", (press) => {
    if (press.button !== 0) return;
    let ghost = null;
    const listeners = new AbortController();
    const follow = (event) => {
      if (!ghost) {
        if (Math.hypot(event.clientX - press.clientX, event.clientY - press.clientY) < DRAG) return;
        ghost = make_ghost(layer, form.places[place]);
        take();
        layer.append(ghost);
      }
      const box = layer.getBoundingClientRect();
      Object.assign(ghost.style, {
        left: `${event.clientX - box.left - ghost.offsetWidth / 2}px`,
        top: `${event.clientY - box.top - ghost.offsetHeight / 2}px`,
      });
    };
    const end = (event) => {
      listeners.abort();
      if (!ghost) return;
      ghost.remove();
      const under = event.type === "pointerup" ? document.elementFromPoint(event.clientX, event.clientY)?.closest(".place") : null;
      // The click that follows a drag would choose the piece again.
      const swallow = (click) => { click.stopPropagation(); click.preventDefault(); };
      window.addEventListener("click", swallow, { capture: true });
      window.setTimeout(() => {
        window.removeEventListener("click", swallow, { capture: true });
        if (under && layer.contains(under) && !under.matches(".chosen, .other")) under.click();
        else if (!under?.matches(".chosen")) drop();
      }, 0);
    };
    const signal = listeners.signal;
    window.addEventListener("pointermove", follow, { signal });
    window.addEventListener("pointerup", end, { signal });
    window.addEventListener("pointercancel", end, { signal });
  });
}

function make_ghost(layer, [x, y, width, height]) {
  const ghost = make("div", { class: "ghost" });
  const box = layer.getBoundingClientRect();
  Object.assign(ghost.style, {
    width: `${width * 100}%`,
    height: `${height * 100}%`,
    backgroundImage: `url("${layer.parentElement.querySelector("img").src}")`,
    backgroundSize: `${box.width}px ${box.height}px`,
    backgroundPosition: `${-x * box.width}px ${-y * box.height}px`,
  });
  return ghost;
}

function choose(layer, [x, y, , height], actions, controller, cancel) {
  layer.querySelector(".menu")?.remove();
  const menu = make("div", { class: "menu", role: "group", "aria-label": "Which one?" });
  Object.assign(menu.style, { left: `${Math.min(x, 0.6) * 100}%`, top: `${Math.min(y + height, 0.75) * 100}%` });
  for (const action of actions) {
    menu.append(button(controller.label(action), () => controller.pick(action), { "data-action": action }));
  }
  menu.append(button("Cancel", cancel));
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") cancel(); });
  layer.append(menu);
  menu.firstElementChild.focus();
}
