// Small helpers. Text of players is only ever set as textContent.
export const element = (id) => document.getElementById(id);

/** A request that is given up after some time: a page that asks again and again must not wait for one that hangs. */
export const request = (address, accept, seconds) =>
  fetch(address, { headers: { Accept: accept }, signal: AbortSignal.timeout(seconds * 1000) });

export function show(id, visible) {
  const part = element(id);
  if (part) part.hidden = !visible;
}

export function fill(parent, items, make) {
  parent.replaceChildren(...items.map(make));
}

/** An element with properties; `class`, `data-...`, `aria-...` and `for` are attributes. */
export function make(tag, properties = {}, ...children) {
  const item = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class" || name === "for" || name === "role" || name.includes("-")) item.setAttribute(name, value);
    else item[name] = value;
  }
  item.append(...children);
  return item;
}

export function button(label, click, properties = {}) {
  const item = make("button", { type: "button", textContent: label, ...properties });
  item.addEventListener("click", click);
  return item;
}

/** Steps to the right and down. */
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Tells whether a text contains all words of a search, in any case. */
export function searcher(search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.toLowerCase().includes(word));
}
