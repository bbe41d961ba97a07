// Replay of one episode, or of two side by side. Text of players is only ever set as text.
import { problem } from "./live.js";

const KEPT = 300;
const slider = document.getElementById("slider");
const position = document.getElementById("position");
const speed = document.getElementById("speed");
const MARKS = {
  verified: "✓ the picture has the recorded hash",
  differs: "✗ the picture differs from the recorded one",
  none: "no picture was recorded here",
};

function element(name, className, text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

const badge = (word) => element("span", `badge v-${word}`, word);

async function json(address) {
  const reply = await fetch(address, { headers: { Accept: "application/json" } });
  if (!reply.ok) throw new Error(await problem(reply));
  return reply.json();
}

/** One episode: fetches its steps and shows them. */
class Panel {
  constructor(root) {
    this.root = root;
    this.address = root.dataset.address;
    this.last = Number(root.dataset.steps) - 1;
    this.steps = new Map();
    this.shown = -1;
    this.seats = new Map();
    for (const seat of JSON.parse(root.dataset.seats)) this.addSeat(seat);
  }

  addSeat(seat) {
    const part = document.getElementById("seat").content.firstElementChild.cloneNode(true);
    part.querySelector(".name").textContent = seat;
    const prompt = part.querySelector(".prompt");
    prompt.addEventListener("toggle", () => { if (prompt.open) this.showPrompt(seat); });
    this.root.querySelector(".seats").append(part);
    this.seats.set(seat, part);
  }

  picture(step, seat, number, hash) {
    const query = new URLSearchParams({ step, seat, number, hash });
    return `/episode-picture/${this.address}&${query}`;
  }

  /** A step with its pictures loaded, so that showing it changes everything at once. */
  load(step) {
    if (!this.steps.has(step)) {
      if (this.steps.size >= KEPT) this.steps.delete(this.steps.keys().next().value);
      const loading = this.fetch(step);
      loading.catch(() => this.steps.delete(step));
      this.steps.set(step, loading);
    }
    return this.steps.get(step);
  }

  async fetch(step) {
    const data = await json(`/episode-step/${this.address}&step=${step}`);
    const waiting = [];
    for (const [seat, view] of Object.entries(data.seats)) {
      view.pictures.forEach((picture, number) => {
        picture.image = new Image(picture.width, picture.height);
        picture.image.alt = view.text || `what ${seat} sees in step ${step}`;
        picture.image.src = this.picture(step, seat, number, picture.hash);
        waiting.push(picture.image.decode().catch(() => {}));
      });
    }
    await Promise.all(waiting);
    return data;
  }

  async show(step) {
    step = Math.min(step, this.last);
    if (step < 0) return;
    this.wanted = step;
    let data;
    try { data = await this.load(step); } catch (error) { this.root.querySelector(".verification").textContent = error.message; return; }
    if (this.wanted !== step) return;
    this.shown = step;
    for (const [seat, view] of Object.entries(data.seats)) this.showSeat(this.seats.get(seat), seat, view);
    this.root.dataset.step = step;
    if (step < this.last) this.load(step + 1).catch(() => {});
  }

  showSeat(part, seat, view) {
    part.classList.toggle("acts", view.move !== null);
    part.querySelector(".verdict").replaceChildren(...(view.move ? [badge(view.move.verdict)] : []));
    const pictures = part.querySelector(".pictures");
    pictures.replaceChildren(...view.pictures.map((picture) => picture.image));
    pictures.classList.toggle("blind", view.blind);
    const mark = part.querySelector(".mark");
    mark.textContent = MARKS[view.mark] + (view.blind ? "; a blank one was shown instead" : "");
    mark.dataset.mark = view.mark;
    part.querySelector(".did").replaceChildren(...(view.move ? did(view.move) : [element("p", "none", "did not act")]));
    fill(part.querySelector(".twin"), view.text);
    fill(part.querySelector(".notes"), view.notes);
    const prompt = part.querySelector(".prompt");
    prompt.hidden = !view.prompted;
    if (prompt.open && view.prompted) this.showPrompt(seat);
  }

  async showPrompt(seat) {
    const step = this.shown, part = this.seats.get(seat);
    const place = part.querySelector(".messages");
    let prompts;
    try {
      ({ prompts } = await json(`/episode-prompt/${this.address}&${new URLSearchParams({ step, seat })}`));
    } catch (error) { place.textContent = error.message; return; }
    if (this.shown !== step) return;
    let known = 0;
    place.replaceChildren(...prompts.flatMap((messages, number) => {
      const fresh = messages.slice(number ? known : 0);
      known = messages.length + 1;
      return fresh.map(({ role, text }) => {
        const made = element("div", `message ${role}`);
        made.append(element("b", "", role), element("bdi", "words", text));
        return made;
      });
    }));
  }

  async verify() {
    const place = this.root.querySelector(".verification");
    try {
      const { verified, problem: reason } = await json(`/episode-verify/${this.address}`);
      place.textContent = reason ? `✗ ${reason}`
        : `✓ ${verified.moves} moves, ${verified.replies} replies and ${verified.pictures} pictures are as recorded`;
      place.dataset.mark = reason ? "differs" : "verified";
    } catch (error) { place.textContent = error.message; }
  }
}

function fill(details, text) {
  details.hidden = !text;
  details.querySelector(".text").textContent = text;
}

/** The replies of a move and what came of them. */
function did(move) {
  const made = move.tries.map((one) => {
    const part = element("div", `reply r-${one.verdict}`);
    const figures = [`${one.ms.toLocaleString("en")} ms`];
    if (one.usage) figures.push(`${one.usage.input_tokens.toLocaleString("en")} + ${one.usage.output_tokens.toLocaleString("en")} tokens`);
    if (one.usage?.reasoning_tokens) figures.push(`${one.usage.reasoning_tokens.toLocaleString("en")} of them reasoning`);
    if (one.usage?.cost != null) figures.push(`cost ${one.usage.cost.toPrecision(3)}`);
    if (one.finish) figures.push(`ended: ${one.finish}`);
    const head = element("p", "fine");
    if (move.tries.length > 1 || one.verdict !== "ok") head.append(badge(one.verdict));
    head.append(figures.join(", "));
    part.append(head);
    if (one.reasoning) {
      const folded = element("details", "prompt");
      folded.append(element("summary", "", "reasoning"), element("bdi", "words", one.reasoning));
      part.append(folded);
    }
    part.append(one.text ? element("bdi", "words said", one.text) : element("span", "none", "(no reply)"));
    if (one.reason) part.append(element("p", "reason", one.reason));
    return part;
  });
  const played = element("p", "action", "action ");
  played.append(element("bdi", "words played", move.action || "(nothing)"));
  if (!move.tries.length) played.append(element("span", "fine", ` ${move.ms.toLocaleString("en")} ms`));
  return [played, ...made];
}

const panels = [...document.querySelectorAll(".panel")].map((root) => new Panel(root));
const last = Number(slider.max);
let step = 0, timer = 0;

function go(to, keepPlaying = false) {
  if (!keepPlaying) pause();
  step = Math.max(0, Math.min(last, to));
  slider.value = step;
  slider.ariaValueText = `step ${step} of ${last}`;
  position.textContent = `step ${step} of ${last}`;
  document.getElementById("here").href = `#step=${step}`;
  history.replaceState(null, "", `${location.pathname}${location.search}#step=${step}`);
  return Promise.all(panels.map((panel) => panel.show(step)));
}

const button = document.querySelector("[data-go=play]");
function pause() {
  clearTimeout(timer);
  timer = 0;
  button.textContent = "Play";
}
function play() {
  button.textContent = "Pause";
  const next = () => {
    timer = setTimeout(async () => {
      await go(step + 1, true);
      if (timer && step < last) next(); else pause();
    }, Number(speed.value));
  };
  if (step >= last) go(0, true);
  next();
}
const toggle = () => { if (timer) pause(); else play(); };

const ACTIONS = {
  first: () => go(0), back: () => go(step - 1), play: toggle, next: () => go(step + 1), last: () => go(last),
};
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
for (const each of document.querySelectorAll("[data-go]")) each.addEventListener("click", ACTIONS[each.dataset.go]);
slider.addEventListener("input", () => go(Number(slider.value)));
document.addEventListener("keydown", (event) => {
  const action = KEYS[event.key];
  if (!action || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("select, textarea, input:not([type=range])")) return;
  if (event.key === " " && event.target.closest("button, a, summary")) return;
  event.preventDefault();
  ACTIONS[action]();
});
document.querySelector("#compare select")?.addEventListener("change", (event) => { location.href = `${event.target.value}#step=${step}`; });

const asked = () => Number(new URLSearchParams(location.hash.slice(1)).get("step") ?? 0) || 0;
window.addEventListener("hashchange", () => { if (asked() !== step) go(asked()); });
go(asked()).then(() => panels.forEach((panel) => panel.verify()));
