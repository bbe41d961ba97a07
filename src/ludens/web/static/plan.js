// What robots do, step by step: choose a robot, a command and its objects; the last choice can be undone.
import { button, fill, make } from "./dom.js";

/** A button that has nothing to do now stays disabled also where others are enabled. */
function idle(item, is) {
  item.toggleAttribute("data-idle", is);
  item.disabled = is;
}

export function plan(form, content, tools) {
  const robots = Object.keys(form.robots);
  const steps = content?.steps?.length ? content.steps : [{}];
  let pending = []; // robot, command, objects so far
  const history = []; // earlier steps and pending choices
  const message = make("textarea", { id: "words", rows: 2, maxLength: form.message || 1, value: content?.message || "" });
  const table = make("ol", { class: "steps", "aria-label": "The plan so far" });
  const question = make("p", { class: "asked", role: "status" });
  const choices = make("div", { id: "actions", class: "actions" });
  const many = form.steps === null || form.steps > 1;

  const step = () => steps[steps.length - 1];
  function remember() { history.push({ steps: steps.map((each) => ({ ...each })), pending: [...pending] }); }
  function undo() {
    const last = history.pop();
    if (!last) return;
    steps.splice(0, steps.length, ...last.steps);
    pending = last.pending;
    redraw();
  }
  function next() {
    if (!Object.keys(step()).length) return;
    remember();
    steps.push({});
    pending = [];
    redraw();
  }
  function options() {
    if (!pending.length && robots.length === 1) pending = [robots[0]];
    if (!pending.length) return robots;
    const [robot, command, ...objects] = pending;
    if (!command) return form.robots[robot][1];
    return form.commands[command][objects.length][1].filter((name) => name !== robot);
  }
  function pick(name) {
    if (!options().includes(name)) {
      if (!robots.includes(name) || pending.length > 1) return;
      pending = []; // another robot instead
    }
    remember();
    pending.push(name);
    const [robot, command, ...objects] = pending;
    if (command && objects.length === form.commands[command].length) {
      step()[robot] = [command, ...objects];
      pending = [];
    }
    redraw();
  }
  function words() {
    if (!pending.length) return many ? `Step ${steps.length}: which robot?` : "Which robot?";
    const [robot, command, ...objects] = pending;
    if (!command) return `What does ${robot} do?`;
    return `${robot} ${[command, ...objects].join(" ")}: which ${form.commands[command][objects.length][0]}?`;
  }
  function redraw() {
    options();
    const acts = (each) => Object.entries(each);
    fill(table, steps, (each, number) => make("li", {},
      ...(acts(each).length ? acts(each).map(([robot, words]) => make("span", { class: "chip" },
        make("b", { textContent: robot }), ` ${words.join(" ")}`,
        button("×", () => { remember(); delete steps[number][robot]; redraw(); }, { "aria-label": `Remove ${robot} ${words.join(" ")}` })))
        : [make("span", { class: "fine", textContent: "nobody acts yet" })])));
    table.hidden = !many && !acts(step()).length;
    question.textContent = words();
    fill(choices, options(), (name) => {
      const kind = pending.length === 0 && step()[name] ? `${name} (again)` : name;
      return button(kind, () => pick(name), { "data-action": name });
    });
    idle(following, !acts(step()).length);
    idle(back, history.length === 0);
    tools.changed();
  }
  const value = () => ({ steps: steps.filter((each) => Object.keys(each).length), message: form.message ? message.value.trim() : "" });
  const back = button("Undo", undo);
  const following = button("Next step", next);
  following.hidden = !many;
  const send = button(many ? "Send the plan" : "Send", () => tools.send(JSON.stringify(value())), { class: "primary" });
  const buttons = make("p", { class: "row" }, back, " ", following, " ", send);
  const box = make("div", { class: "plan" }, table, question, choices);
  if (form.message) box.append(make("label", { for: "words", textContent: "Message to the others (optional)" }), message);
  box.append(buttons);
  message.addEventListener("input", tools.changed);
  redraw();
  return {
    box,
    content: () => (Object.keys(steps[0]).length || message.value ? { steps, message: message.value } : null),
    pick,
    label: (name) => name,
  };
}
