// Small helpers. Text of players is only ever set as textContent.
export const element = (id) => document.getElementById(id);

/** A request that is given up after some time: a page that asks again and again must not wait for one that hangs. */
export const request = (address, accept, seconds) =>
  fetch(address, { headers: { Accept: accept }, signal: AbortSignal.timeout(seconds * 1000) });

export function show(id, visible) {
  const found = element(id);
  if (found) found.hidden = !visible;
}

export function fill(parent, items, make) {
  parent.replaceChildren(...items.map(make));
}

/** An element with properties; `class`, `data-...`, `aria-...` and `for` are attributes. */
export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class" || name === "for" || name === "role" || name.includes("-")) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

export function button(label, click, properties = {}) {
  const made = make("button", { type: "button", textContent: label, ...properties });
  made.addEventListener("click", click);
  return made;
}

/** A button that has nothing to do now stays disabled also where others are enabled. */
export function idle(made, is) {
  made.toggleAttribute("data-idle", is);
  made.disabled = is;
}
