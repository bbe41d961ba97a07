// Waits for a partner: asks from time to time, and shows the game when it begins.
import { element, request } from "./dom.js";

const waiting = element("waiting");
const text = waiting.textContent;
const poll = Number(waiting.dataset.poll);

async function ask() {
  try {
    const reply = await request(`${waiting.dataset.base}/waiting`, "application/json", 5 * poll);
    const data = await reply.json();
    if (reply.ok && !data.waiting) { location.href = data.plays ? waiting.dataset.base : `${waiting.dataset.base}?again`; return; }
    element("skip").hidden = !data.skip;
    waiting.textContent = reply.ok ? text : data.error;
  } catch {
    waiting.textContent = "The server cannot be reached. Trying again …";
  }
  window.setTimeout(ask, poll * 1000);
}

window.setTimeout(ask, poll * 1000);
