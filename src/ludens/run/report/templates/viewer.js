"use strict";
// The viewer of episodes. Steps are in the page, or fetched from the browser app, which escapes all text.
{
const KEPT = 300;
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
const FOLDED = ["details.twin", "details.notes", "details[data-reply]", "details.prompt:not([data-reply])"];

async function load(address) {
  const reply = await fetch(address, { headers: { Accept: "text/html, application/json" } });
  if (reply.ok) return reply;
  let message = reply.statusText;
  try { message = (await reply.json()).error; } catch { /* not a message of the server */ }
  throw new Error(message);
}

const parse = async (reply) => document.adoptNode(new DOMParser().parseFromString(await reply.text(), "text/html").body);

/** One episode. */
class Panel {
  constructor(root) {
    this.root = root;
    this.address = root.dataset.address;
    this.place = root.querySelector(".steps");
    this.steps = new Map([...this.place.children].map((step) => [Number(step.dataset.step), step]));
    this.numbers = this.address ? [...Array(Number(root.dataset.steps)).keys()] : [...this.steps.keys()];
    this.open = new Map();
    this.compared = root.parentElement.classList.contains("two");
    root.addEventListener("toggle", ({ target }) => this.toggled(target), true);
  }

  /** What a reader opens or closes for a seat is so in other steps, too. */
  toggled(details) {
    const kind = FOLDED.find((each) => details.matches(each));
    if (!kind) return;
    this.open.set(details.closest(".seat").dataset.seat + kind, details.open);
    if (this.address && details.open) this.showPrompts(details);
  }

  keepOpen(step) {
    for (const seat of step.querySelectorAll(".seat")) {
      for (const kind of FOLDED) {
        // Of two episodes side by side, the reasoning is what one wants to compare.
        const open = this.open.get(seat.dataset.seat + kind) ?? (this.compared && kind === FOLDED[3]);
        for (const details of seat.querySelectorAll(kind)) details.open = open;
      }
    }
  }

  /** A step, with its pictures if it is fetched, so that showing it changes everything at once. */
  load(number) {
    if (!this.steps.has(number)) {
      if (this.steps.size >= KEPT) this.steps.delete(this.steps.keys().next().value);
      const loading = this.fetch(number);
      loading.catch(() => this.steps.delete(number));
      this.steps.set(number, loading);
    }
    return this.steps.get(number);
  }

  async fetch(number) {
    const step = (await parse(await load(`/episode-step/${this.address}&step=${number}`))).querySelector(".step");
    await Promise.all([...step.querySelectorAll("img")].map((image) => image.decode().catch(() => {})));
    return step;
  }

  async show(index, all) {
    const at = Math.min(index, this.numbers.length - 1), number = this.numbers[at];
    if (number === undefined) return;
    this.wanted = number;
    let step;
    try { step = await this.load(number); } catch (error) { this.report(error.message); return; }
    if (this.wanted !== number) return;
    if (!all) this.keepOpen(step);
    if (this.address) this.place.replaceChildren(step);
    else for (const each of this.steps.values()) each.hidden = !all && each !== step;
    this.shown = step;
    this.root.dataset.step = number;
    if (at + 1 < this.numbers.length) Promise.resolve(this.load(this.numbers[at + 1])).catch(() => {});
  }

  async showPrompts(details) {
    if (details.dataset.reply === undefined || details.dataset.loaded) return;
    const seat = details.closest(".seat"), step = details.closest(".step").dataset.step;
    const replies = [...seat.querySelectorAll("details[data-reply]")];
    for (const each of replies) each.dataset.loaded = "yes";
    try {
      const query = new URLSearchParams({ step, seat: seat.dataset.seat });
      const prompts = (await parse(await load(`/episode-prompt/${this.address}&${query}`))).children;
      [...prompts].forEach((prompt, number) => replies[number]?.lastElementChild.replaceWith(prompt));
    } catch (error) { details.lastElementChild.textContent = error.message; }
  }

  report(text, mark = "") {
    const place = this.root.querySelector(".verification");
    place.textContent = text;
    place.dataset.mark = mark;
  }

  async verify() {
    if (!this.address) return;
    try {
      const { text, problem } = await (await load(`/episode-verify/${this.address}`)).json();
      if (problem) this.report(`✗ ${problem}`, "differs"); else this.report(`✓ as recorded: ${text}`, "verified");
    } catch (error) { this.report(error.message); }
  }
}

/** The controls of one panel, or of two side by side. */
class Viewer {
  constructor(root) {
    this.root = root;
    this.panels = [...root.querySelectorAll(".panel")].map((panel) => new Panel(panel));
    this.numbers = this.panels.map((panel) => panel.numbers).reduce((a, b) => (b.length > a.length ? b : a));
    this.last = Math.max(0, this.numbers.length - 1);
    [this.slider, this.position, this.speed, this.here] = [".slider", ".position", ".speed", ".here"].map((name) => root.querySelector(name));
    this.button = root.querySelector("[data-go=play]");
    this.step = this.timer = 0;
    this.all = false;
    this.slider.max = this.last;
    root.querySelector(".controls").hidden = this.numbers.length < 2;
    this.actions = {
      first: () => this.go(0), back: () => this.go(this.step - 1), next: () => this.go(this.step + 1), last: () => this.go(this.last),
      play: () => { if (this.timer) this.pause(); else this.play(); },
      all: (event) => this.showAll(event.currentTarget),
    };
    for (const each of root.querySelectorAll("[data-go]")) each.addEventListener("click", this.actions[each.dataset.go]);
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    for (const link of root.querySelectorAll(".moves a, .timeline a")) {
      link.addEventListener("click", (event) => { event.preventDefault(); this.goTo(Number(link.getAttribute("href").slice(6))); });
    }
  }

  /** Show the step with this index among those that can be shown. */
  go(index, keepPlaying = false) {
    if (!keepPlaying) this.pause();
    this.step = Math.max(0, Math.min(this.last, index));
    const number = this.numbers[this.step] ?? 0, label = `step ${number} of ${this.numbers[this.last] ?? 0}`;
    this.slider.value = this.step;
    this.slider.ariaValueText = this.position.textContent = label;
    if (alone) {
      this.here.href = `#step=${number}`;
      history.replaceState(null, "", `${location.href.split("#")[0]}#step=${number}`);
    }
    const shown = Promise.all(this.panels.map((panel) => panel.show(this.step, this.all)));
    return this.all ? shown.then(() => this.panels[0].shown.scrollIntoView({ block: "center" })) : shown;
  }

  goTo(number) { return this.go(Math.max(0, this.numbers.indexOf(number))); }

  showAll(button) {
    this.all = !this.all;
    button.ariaPressed = String(this.all);
    this.root.classList.toggle("one", !this.all);
    this.panels.forEach((panel) => panel.show(this.step, this.all));
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.button.textContent = "Play";
  }

  play() {
    this.button.textContent = "Pause";
    const next = () => {
      this.timer = setTimeout(async () => {
        await this.go(this.step + 1, true);
        if (this.timer && this.step < this.last) next(); else this.pause();
      }, Number(this.speed.value));
    };
    if (this.step >= this.last) this.go(0, true);
    next();
  }
}

const roots = [...document.querySelectorAll(".viewer")], alone = roots.length === 1 && !roots[0].closest("details");
let current = null;
const viewers = roots.map((root) => new Viewer(root));
if (alone) [current] = viewers;

// With several viewers in a page, keys are for the one that was last clicked or has the focus.
for (const name of alone ? [] : ["pointerdown", "focusin"]) {
  document.addEventListener(name, ({ target }) => {
    current = viewers.find(({ root }) => (root.closest("details") ?? root).contains(target)) ?? null;
  });
}

document.addEventListener("keydown", (event) => {
  const action = KEYS[event.key];
  if (!action || !current?.root.checkVisibility() || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("select, textarea, input:not([type=range])")) return;
  if (event.key === " " && event.target.closest("button, a, summary")) return;
  event.preventDefault();
  current.actions[action]();
});

const linked = () => Number(new URLSearchParams(location.hash.slice(1)).get("step") ?? 0) || 0;
if (alone) window.addEventListener("hashchange", () => { if (linked() !== current.numbers[current.step]) current.goTo(linked()); });
for (const viewer of viewers) {
  viewer.root.classList.add("one");
  viewer.root.querySelector(".here").hidden = !alone;
  viewer.goTo(alone ? linked() : 0).then(() => viewer.panels.forEach((panel) => panel.verify()));
}
document.querySelector("#compare select")?.addEventListener("change", (event) => { location.href = `${event.target.value}#step=${current.step}`; });
}
