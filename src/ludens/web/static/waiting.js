// Waits for a partner: asks from time to time, and shows the game when it begins.
import { element } from "./dom.js";

const waiting = element("waiting");
const text = waiting.textContent;

async function ask() {
  try {
    const reply = await fetch(`${waiting.dataset.base}/waiting`, { headers: { Accept: "application/json" } });
    const data = await reply.json();
    if (reply.ok && !data.waiting) { location.href = data.plays ? waiting.dataset.base : `${waiting.dataset.base}?again`; return; }
    element("skip").hidden = !data.skip;
    waiting.textContent = reply.ok ? text : data.error;
  } catch {
    waiting.textContent = "The server cannot be reached. Trying again …";
  }
  window.setTimeout(ask, Number(waiting.dataset.poll) * 1000);
}

window.setTimeout(ask, Number(waiting.dataset.poll) * 1000);
