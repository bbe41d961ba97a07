// Keeps the organiser's page up to date.
import { element, request } from "./dom.js";

async function refresh() {
  try {
    const reply = await request(location.href, "text/html", 60);
    if (reply.ok) {
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      element("progress").replaceChildren(...page.getElementById("progress").children);
    }
  } catch {
    // The server may be back in a moment.
  }
  window.setTimeout(refresh, Number(element("progress").dataset.refresh) * 1000);
}

window.setTimeout(refresh, Number(element("progress").dataset.refresh) * 1000);
