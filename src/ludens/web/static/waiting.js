// Waits for a partner: asks from time to time, and shows the game when it begins.
import { element } from "./dom.js";

const waiting = element("waiting");

async function ask() {
  try {
    const reply = await fetch(`${waiting.dataset.base}/waiting`, { headers: { Accept: "application/json" } });
    const data = await reply.json();
    if (reply.ok && !data.waiting) { location.reload(); return; }
    element("skip").hidden = !data.skip;
  } catch {
    // The server may be back in a moment.
  }
  window.setTimeout(ask, Number(waiting.dataset.poll) * 1000);
}

window.setTimeout(ask, Number(waiting.dataset.poll) * 1000);
