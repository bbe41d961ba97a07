// Pictures, and what can be clicked on the last of them: a cell, or a piece and then where it goes.
// The same choices are buttons beside the picture, so places are not in the tab order.

const chosen = { key: "", path: [] };

export function show_pictures(box, data, my_turn, act) {
  const pictures = data.images || [];
  while (box.children.length > pictures.length) box.lastElementChild.remove();
  pictures.forEach((picture, index) => {
    let frame = box.children[index];
    if (!frame) {
      frame = document.createElement("div");
      frame.className = "picture";
      frame.append(document.createElement("img"), document.createElement("div"));
      frame.lastElementChild.className = "places";
      box.append(frame);
    }
    const image = frame.firstElementChild;
    // CSSOM is allowed by the policy; style attributes are not.
    frame.style.aspectRatio = `${picture.width} / ${picture.height}`;
    image.alt = data.text || "The picture of the game";
    if (image.src !== picture.src) image.src = picture.src;
    const last = index === pictures.length - 1;
    show_places(frame.lastElementChild, my_turn && last ? data : null, act);
  });
}

function show_places(layer, data, act) {
  const key = data ? JSON.stringify([data.game, data.turn, data.refused]) : "";
  if (chosen.key !== key) { chosen.key = key; chosen.path = []; }
  layer.replaceChildren();
  if (!data || !data.places) return;
  const depth = chosen.path.length;
  const paths = Object.entries(data.actions).filter(([, path]) => chosen.path.every((place, i) => path[i] === place));
  const next = new Map();
  for (const [action, path] of paths) {
    if (path.length > depth) next.set(path[depth], [...(next.get(path[depth]) || []), [action, path]]);
  }
  const redraw = () => show_places(layer, data, act);
  if (depth) add(layer, data.places[chosen.path[depth - 1]], "place chosen", "Choose another", () => { chosen.path = []; redraw(); });
  for (const [place, options] of next) {
    const done = options.filter(([, path]) => path.length === depth + 1);
    const label = options.length === 1 ? options[0][0] : options.map(([action]) => action).join(", ");
    add(layer, data.places[place], "place", label, () => {
      if (done.length === options.length && done.length === 1) { act(done[0][0]); return; }
      if (done.length === options.length) { choose(layer, data.places[place], done.map(([action]) => action), act, redraw); return; }
      chosen.path = [...chosen.path, place];
      redraw();
    });
  }
}

function add(layer, [x, y, width, height], name, label, click) {
  const place = document.createElement("button");
  place.type = "button";
  place.className = name;
  place.tabIndex = -1;
  place.title = label;
  place.setAttribute("aria-label", label);
  Object.assign(place.style, { left: `${x * 100}%`, top: `${y * 100}%`, width: `${width * 100}%`, height: `${height * 100}%` });
  place.addEventListener("click", click);
  layer.append(place);
}

function choose(layer, [x, y, , height], actions, act, cancel) {
  const menu = document.createElement("div");
  menu.className = "menu";
  Object.assign(menu.style, { left: `${Math.min(x, 0.6) * 100}%`, top: `${Math.min(y + height, 0.75) * 100}%` });
  for (const action of actions) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = action;
    button.addEventListener("click", () => act(action));
    menu.append(button);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "Cancel";
  close.addEventListener("click", cancel);
  menu.append(close);
  layer.append(menu);
  menu.firstElementChild.focus();
}
