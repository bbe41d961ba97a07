// Small helpers. Text of players is only ever set as textContent.
export const element = (id) => document.getElementById(id);

export function show(id, visible) {
  const found = element(id);
  if (found) found.hidden = !visible;
}

export function fill(parent, items, make) {
  parent.replaceChildren(...items.map(make));
}
