// How a person answers: one controller for each kind of form. The server reads what `send` gets.
// What was entered stays until the server has taken it, over refusals, lost connections and reloads.
import { button, element, fill, make } from "./dom.js";
import { plan } from "./plan.js";
import { draw } from "./draw.js";
import { matrix } from "./matrix.js";

const KINDS = { choose, sentence, select, fill: fill_in, plan, draw, matrix };
const SHORT = 6;
let current = null;
let storage_key = "";
let sent = null;

/** The controller of the question, made anew for each: `pick(name)`, `label(name)` and `layer` for the picture. */
export function show_form(box, data, session, act) {
  storage_key = `draft:${session}:${data.game}`;
  // In a game with a clock one form serves all steps.
  const key = JSON.stringify([data.game, data.clock ? 0 : data.turn]);
  const draft = JSON.parse(sessionStorage.getItem(storage_key) || "null");
  if (current && current.key === key) return current.controller;
  if (draft && current === null) sent = draft.sent;
  const received = sent !== null && data.received >= sent && !data.refused;
  if (received) sessionStorage.removeItem(storage_key);
  if (received || data.refused) sent = null;
  const content = !received && draft?.kind === data.form.kind ? draft.content : null;
  const tools = {
    send: (text) => {
      keep();
      if (!act(text)) return;
      sent = data.turn;
      keep();
    },
    changed: () => { if (current?.key === key) keep(); }, // not while a form is made
  };
  const controller = KINDS[data.form.kind]({ ...data.form, names: data.legal }, content, tools);
  current = { key, kind: data.form.kind, controller };
  element("prompt").textContent = controller.prompts ? "" : data.form.prompt || "";
  box.dataset.kind = data.form.kind;
  box.dataset.turn = data.turn;
  box.replaceChildren(controller.box);
  controller.focus?.();
  return controller;
}

export function forget_form() {
  current = null;
  sent = null;
  if (storage_key) sessionStorage.removeItem(storage_key);
}

function keep() {
  if (!current) return;
  const content = current.controller.content();
  if (content === null) sessionStorage.removeItem(storage_key);
  else sessionStorage.setItem(storage_key, JSON.stringify({ kind: current.kind, content, sent }));
}

function choose(form, content, tools) {
  const label = (name) => form.labels[name] ?? name;
  const buttons = form.names.map((name) => button(label(name), (event) => {
    controller.by_keyboard = event.detail === 0;
    tools.send(name);
  }, { "data-action": name }));
  const words = make("input", { id: "typed", autocomplete: "off", spellcheck: false, maxLength: 100, value: content || "" });
  const typed = make("form", { class: "typed" },
    make("label", { for: "typed", textContent: "Type a move" }), words, make("button", { textContent: "Play" }));
  // On boards, whose moves have short names; in every position, so that nothing jumps.
  const on_board = form.places?.length && !Object.keys(form.keys).length && form.names.every((name) => name.length <= SHORT);
  typed.hidden = form.names.length > 0 && !on_board;
  typed.addEventListener("submit", (event) => { event.preventDefault(); tools.send(words.value.trim()); });
  words.addEventListener("input", tools.changed);
  const controller = {
    box: make("div", {}, make("div", { id: "actions", class: "actions" }, ...buttons), typed),
    content: () => words.value || null,
    pick: tools.send,
    label,
    keys: form.keys,
    focus: () => { if (choose.by_keyboard) buttons[0]?.focus({ preventScroll: true }); },
    set by_keyboard(value) { choose.by_keyboard = value; },
  };
  return controller;
}

function sentence(form, content, tools) {
  const lines = content?.lines?.filter((line) => line in form.lines) || [];
  const words = make("textarea", { id: "words", rows: 3, maxLength: form.limit, value: content?.words || "" });
  const choices = make("ol", { class: "chosen", "aria-label": "Chosen actions" });
  const label = (name) => form.lines[name] ?? name;
  const say = make("form", { id: "say" });
  const send = () => {
    const text = form.words ? words.value.trim() : "";
    tools.send([text, ...lines].filter(Boolean).join("\n"));
  };
  const redraw = () => {
    choices.hidden = lines.length === 0;
    fill(choices, lines, (line, index) => make("li", {}, label(line), " ", button("Remove", () => {
      lines.splice(index, 1);
      redraw();
      tools.changed();
    }, { "aria-label": `Remove ${label(line)}` })));
  };
  const add = (line) => { lines.push(line); redraw(); tools.changed(); };
  if (form.words) say.append(make("label", { for: "words", textContent: form.prompt }), words);
  const actions = Object.entries(form.lines).map(([name, text]) => button(text, () => add(name), { "data-action": name }));
  const list = make("div", { id: "actions", class: "actions" }, ...actions);
  if (actions.length) say.append(list, choices);
  if (form.help) say.append(make("p", { class: "fine", textContent: form.help }));
  say.append(make("button", { class: "primary", textContent: "Send" }));
  if (form.words) say.append(" ", make("span", { class: "fine", textContent: "Ctrl+Enter sends too." }));
  say.addEventListener("submit", (event) => { event.preventDefault(); send(); });
  words.addEventListener("input", tools.changed);
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send(); }
  });
  redraw();
  return {
    box: say,
    content: () => (words.value || lines.length ? { words: words.value, lines } : null),
    pick: form.sends_places ? tools.send : add,
    prompts: form.words,
    label,
    focus: () => { if (form.words && !words.value && matchMedia("(hover: hover)").matches) words.focus({ preventScroll: true }); },
  };
}

function select(form, content, tools) {
  const boxes = Object.entries(form.labels).map(([name, text]) => {
    const check = make("input", { type: "checkbox", name, checked: Boolean(content?.includes(name)) });
    check.addEventListener("change", tools.changed);
    return [check, make("label", { class: "check" }, check, " ", text)];
  });
  const names = () => boxes.filter(([check]) => check.checked).map(([check]) => check.name);
  return {
    box: make("div", {},
      make("fieldset", { class: "checks" }, make("legend", { textContent: form.prompt }), ...boxes.map(([, label]) => label)),
      button("Send", () => tools.send(JSON.stringify(names())), { class: "primary" })),
    content: () => (names().length ? names() : null),
    prompts: true,
    label: (name) => form.labels[name] ?? name,
  };
}

function fill_in(form, content, tools) {
  const inputs = form.fields.map(([name, label], index) => {
    const input = make("input", { id: `field-${index}`, name, maxLength: form.longest, autocomplete: "off", value: content?.[name] || "" });
    input.addEventListener("input", tools.changed);
    return [input, make("p", {}, make("label", { for: input.id, textContent: label }), input)];
  });
  const values = () => Object.fromEntries(inputs.map(([input]) => [input.name, input.value.trim()]));
  const box = make("form", { class: "fields" }, ...inputs.map(([, line]) => line), make("button", { class: "primary", textContent: "Send" }));
  box.addEventListener("submit", (event) => { event.preventDefault(); tools.send(JSON.stringify(values())); });
  return {
    box,
    content: () => (Object.values(values()).some(Boolean) ? values() : null),
    label: (name) => name,
  };
}
