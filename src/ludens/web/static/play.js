// The game, for one seat. The server sends whole snapshots; everything here only shows the latest one.
import { connect } from "./socket.js";
import { show_pictures } from "./picture.js";
import { forget_form, show_form } from "./forms.js";
import { chime, follow_sound } from "./sound.js";
import { element, fill, make, show } from "./dom.js";

const table = element("table");
const heading = document.title;
let snapshot = null;
let answered = null;
let received = 0;
let connected = false;
let controller = null;
let was_mine = false;
let last_action = "";
const ACKNOWLEDGE_MS = 10_000;
const NOT_CONNECTED = "You are not connected. What you have entered stays here until you can send it.";

const socket = connect(`${table.dataset.base}/socket`, {
  message: (data) => {
    const lost = !connected && answered !== null && data.received < answered;
    if (!connected) answered = null;
    snapshot = data;
    connected = true;
    received = performance.now();
    if (lost) data.notice ||= "Your last move did not arrive. Please send it again.";
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
  for (const button of element("form").querySelectorAll("button")) button.disabled = waits || "idle" in button.dataset;
  element("choice").classList.toggle("waits", waits);
  element("leave").disabled = !connected;
}

function render() {
  const data = snapshot;
  if (data.refused || data.notice) answered = null;
  const my_turn = data.turn !== null && !data.ended;
  render_status(data, my_turn);
  element("notice").textContent = data.notice || data.refused || "";
  show("links", data.missing > 0);
  element("rules").textContent = data.rules;
  element("text").textContent = data.text || "";
  show("twin", Boolean(data.text));
  render_choice(data, my_turn);
  show_pictures(element("pictures"), data, my_turn ? controller : null);
  table.dataset.layout = element("pictures").dataset.layout;
  render_notes(data);
  fill(element("log"), data.log, (line) => make("li", { textContent: `${line.name}: ${line.action || "(nothing)"}` }));
  show("leave", !data.ended && data.game > 0);
  render_end(data);
  render_time();
  enable();
}

function status(data, my_turn) {
  if (data.missing) return `Waiting for ${data.missing === 1 ? "one other person" : `${data.missing} other people`} …`;
  if (data.ended) return data.ended;
  if (data.clock) return `The clock is running, ${data.name}.`;
  if (my_turn) return `Your turn, ${data.name}.`;
  return data.waiting ? `Waiting for ${data.waiting} …` : `One moment …`;
}

function render_status(data, my_turn) {
  element("status").textContent = status(data, my_turn);
  element("status").classList.toggle("mine", my_turn);
  document.title = data.ended ? `Over · ${heading}` : my_turn ? `Your turn · ${heading}` : `Waiting · ${heading}`;
  if (my_turn && !was_mine && !data.clock) chime("turn");
  if (data.ended && was_mine !== null) chime("end");
  was_mine = data.ended ? null : my_turn;
}

function render_time() {
  // Not in the status, which is read aloud whenever it changes.
  const limited = Boolean(snapshot) && snapshot.seconds !== undefined && !snapshot.ended;
  show("time", limited);
  if (!limited) return;
  const now = Math.max(0, Math.round(snapshot.seconds - (performance.now() - received) / 1000));
  element("time").textContent = now >= 120 ? `${Math.ceil(now / 60)} minutes left` : `${now} seconds left`;
}

function render_choice(data, my_turn) {
  // While others move, the last choice stays where it is, so that nothing jumps.
  show("choice", data.game > 0 && !data.ended);
  element("choice").inert = !my_turn && !data.clock;
  element("choice").removeAttribute("aria-busy");
  if (data.ended) forget_form();
  else if (my_turn) controller = show_form(element("form"), data, table.dataset.session, act);
  show("keys", Object.keys(controller?.keys || {}).length > 0);
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
  fill(notes, blocks, (block) => make("div", { class: block.said ? "message" : "told", textContent: block.lines.join("\n") }));
  notes.scrollTop = notes.scrollHeight;
}

function render_end(data) {
  show("end", Boolean(data.ended));
  element("outcome").textContent = data.outcome || "";
  fill(element("returns"), Object.entries(data.returns || {}).flat(), (value, index) => make(index % 2 ? "dd" : "dt", { textContent: String(value) }));
  element("answer").textContent = data.answer ? `The right answer: ${data.answer}` : "";
  const saved = element("saved");
  if (!saved) return;
  saved.textContent = data.saved || "";
  const replay = element("replay");
  replay.hidden = !data.replay || "closed" in replay.dataset;
  if (data.replay) replay.href = data.replay;
  show("download", Boolean(data.returns));
}

// Arrow keys and space act in games of directions, wherever the focus is except in a field.
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (!snapshot || (snapshot.turn === null && !snapshot.clock) || snapshot.ended || !controller?.keys) return;
  if (event.target.closest("input, textarea, select, dialog, summary, a")) return;
  if (event.key === " " && event.target.closest("button")) return;
  const action = controller.keys[event.key];
  if (action === undefined) return;
  event.preventDefault();
  controller.pick(action);
}, { capture: true });

window.setInterval(render_time, 1000);
follow_sound(element("sound"));
element("enlarged").addEventListener("click", () => element("enlarged").close());
element("leave").addEventListener("click", () => {
  if (window.confirm("Leave the game? It cannot be continued then.")) socket.send({ leave: true });
});
element("again")?.addEventListener("click", async () => {
  answered = null;
  const reply = await fetch(`${table.dataset.base}/again`, { method: "POST", headers: { Accept: "application/json" } });
  if (!reply.ok) element("notice").textContent = (await reply.json()).error;
});
for (const link of document.querySelectorAll(".links input")) {
  link.addEventListener("focus", () => link.select());
}
