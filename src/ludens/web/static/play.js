// The game, for one seat. The server sends whole snapshots; everything here only shows the latest one.
import { connect } from "./socket.js";
import { show_pictures } from "./picture.js";
import { element, fill, show } from "./dom.js";

const table = element("table");
let snapshot = null;
let answered = null;
let by_keyboard = false;
let received = 0;
let connected = false;
let draft_key = "";
let last_words = "";
let last_action = "";
const ACKNOWLEDGE_MS = 10_000;
const NOT_CONNECTED = "You are not connected. What you have written stays here until you can send it.";

const socket = connect(`${table.dataset.base}/socket`, {
  message: (data) => {
    const lost = !connected && answered !== null && data.received < answered;
    if (!connected) answered = null;
    snapshot = data;
    connected = true;
    received = performance.now();
    if (lost) data.notice ||= "Your last move did not arrive. Please send it again.";
    update_draft(data);
    render();
  },
  state: (text) => { connected = false; element("status").textContent = text; enable(); },
  gone: (text) => { element("status").textContent = text; show("gone", true); show("leave", false); },
});

function act(text) {
  if (!snapshot || (!snapshot.clock && (snapshot.turn === null || answered === snapshot.turn))) return false;
  const turn = snapshot.turn ?? snapshot.received;
  if (snapshot.clock && answered === turn && text === last_action) return true;
  last_action = text;
  if (!connected || !socket.send({ move: text, turn })) {
    element("notice").textContent = NOT_CONNECTED;
    return false;
  }
  answered = turn;
  if (snapshot.clock) return true;
  element("choice").setAttribute("aria-busy", "true");
  enable();
  window.setTimeout(() => { if (answered === turn && snapshot.received < turn) socket.drop(); }, ACKNOWLEDGE_MS);
  return true;
}

// Nothing can be sent without a connection, and no answer twice.
function enable() {
  const waits = !connected || (snapshot !== null && !snapshot.clock && answered !== null && answered === snapshot.turn);
  for (const button of element("choice").querySelectorAll("button")) button.disabled = waits;
  element("leave").disabled = !connected;
}

// What was typed is kept until the server has received it, also when the page is reloaded.
function keep_draft(turn) {
  const text = element("words").value;
  if (text) sessionStorage.setItem(draft_key, JSON.stringify({ text, turn }));
  else sessionStorage.removeItem(draft_key);
}

function update_draft(data) {
  const words = element("words");
  const key = `draft:${table.dataset.session}:${data.game}`;
  const draft = JSON.parse(sessionStorage.getItem(key) || "null");
  if (key !== draft_key) { draft_key = key; words.value = draft ? draft.text : ""; }
  if (draft && draft.turn !== null && data.received >= draft.turn) {
    if (words.value === draft.text) { last_words = draft.text; words.value = ""; }
    keep_draft(null);
  }
  if (data.refused && !words.value && last_words) { words.value = last_words; last_words = ""; keep_draft(null); }
  if (data.ended) sessionStorage.removeItem(key);
}

function render() {
  const data = snapshot;
  if (data.refused || data.notice) answered = null;
  const my_turn = data.turn !== null && !data.ended;
  element("status").textContent = status(data, my_turn);
  element("status").classList.toggle("mine", my_turn);
  element("notice").textContent = data.notice || data.refused || "";
  show("links", data.missing > 0);
  element("rules").textContent = data.rules;
  element("text").textContent = data.text || "";
  show("twin", Boolean(data.text));
  const writing = my_turn && data.text_limit !== null && data.text_limit !== undefined;
  show_pictures(element("pictures"), data, my_turn, writing ? insert : act);
  render_choice(data, my_turn, writing);
  render_notes(data);
  fill(element("log"), data.log, (line) => {
    const item = document.createElement("li");
    item.textContent = `${line.name}: ${line.action || "(nothing)"}`;
    return item;
  });
  show("leave", !data.ended && data.game > 0);
  render_end(data);
  render_time();
  enable();
}

function status(data, my_turn) {
  if (data.missing) return `Waiting for ${data.missing === 1 ? "one other person" : `${data.missing} other people`} …`;
  if (data.ended) return data.ended;
  if (my_turn) return `Your turn, ${data.name}.`;
  return data.waiting ? `Waiting for ${data.waiting} …` : `One moment …`;
}

function render_time() {
  // Not in the status, which is read aloud whenever it changes.
  const limited = Boolean(snapshot) && snapshot.seconds !== undefined && !snapshot.ended;
  show("time", limited);
  if (!limited) return;
  const now = Math.max(0, Math.round(snapshot.seconds - (performance.now() - received) / 1000));
  element("time").textContent = now >= 120 ? `${Math.ceil(now / 60)} minutes left` : `${now} seconds left`;
}

function render_choice(data, my_turn, writing) {
  // While others move, the last choice stays where it is, so that nothing jumps.
  show("choice", data.game > 0 && !data.ended);
  element("choice").inert = !my_turn && !data.clock;
  element("choice").removeAttribute("aria-busy");
  if (!my_turn) return;
  show("say", writing);
  element("instruction").textContent = data.instruction || "";
  if (writing) element("words").maxLength = data.text_limit;
  const named = writing ? Object.keys(data.actions || {}) : data.legal;
  const key = JSON.stringify([data.clock ? 0 : data.turn, named, data.refused]);
  if (element("actions").dataset.key === key) return;
  element("actions").dataset.key = key;
  fill(element("actions"), named, (name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", (event) => {
      by_keyboard = event.detail === 0;
      if (writing) insert(name); else act(name);
    });
    return button;
  });
  if (by_keyboard && !writing) element("actions").firstElementChild?.focus({ preventScroll: true });
  if (writing && !element("words").value) element("words").focus({ preventScroll: true });
}

function insert(line) {
  // Each action stands on a line of its own.
  const words = element("words");
  words.value = words.value && !words.value.endsWith("\n") ? `${words.value}\n${line}\n` : `${words.value}${line}\n`;
  keep_draft(null);
  words.focus();
}

function render_notes(data) {
  // Messages are indented below the name of their speaker.
  const notes = element("notes");
  show("notes", Boolean(data.notes));
  if (notes.dataset.shown === data.notes) return;
  notes.dataset.shown = data.notes || "";
  const blocks = [];
  for (const line of (data.notes || "").split("\n")) {
    const said = line.startsWith("    ");
    const last = blocks[blocks.length - 1];
    if (last && last.said === said) last.lines.push(line.slice(said ? 4 : 0));
    else blocks.push({ said, lines: [line.slice(said ? 4 : 0)] });
  }
  fill(notes, blocks, (block) => {
    const box = document.createElement("div");
    box.className = block.said ? "message" : "told";
    box.textContent = block.lines.join("\n");
    return box;
  });
  notes.scrollTop = notes.scrollHeight;
}

function render_end(data) {
  show("end", Boolean(data.ended));
  fill(element("returns"), Object.entries(data.returns || {}).flat(), (value, index) => {
    const cell = document.createElement(index % 2 ? "dd" : "dt");
    cell.textContent = String(value);
    return cell;
  });
  element("answer").textContent = data.answer ? `The right answer: ${data.answer}` : "";
  const saved = element("saved");
  if (saved) saved.textContent = data.saved || "";
}

function send_words() {
  const text = element("words").value.trim();
  if (text && act(text)) keep_draft(answered);
}

window.setInterval(render_time, 1000);
element("say").addEventListener("submit", (event) => { event.preventDefault(); send_words(); });
element("words").addEventListener("input", () => keep_draft(null));
element("words").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send_words(); }
});
element("leave").addEventListener("click", () => {
  if (window.confirm("Leave the game? It cannot be continued then.")) socket.send({ leave: true });
});
const again = document.getElementById("again");
if (again) again.addEventListener("click", async () => {
  answered = null;
  const reply = await fetch(`${table.dataset.base}/again`, { method: "POST", headers: { Accept: "application/json" } });
  if (!reply.ok) element("notice").textContent = (await reply.json()).error;
});
for (const link of document.querySelectorAll(".links input")) {
  link.addEventListener("focus", () => link.select());
}
