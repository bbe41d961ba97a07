// Replaces parts of a page by newer ones from the server while the page is open.
import { request } from "./dom.js";

const AGAIN = 1500, IDLE = 3000;

/** Parse a part of a page. The server escapes all text; scripts in it would not run. */
export const parse = (html) => new DOMParser().parseFromString(html, "text/html");

/** Replace the contents of an element; open details stay open, and what has the focus is not touched. */
export function replaceContents(old, fresh) {
  if (old.contains(document.activeElement) && old.matches("form, form *")) return;
  const opened = [...old.querySelectorAll("details")].map((each) => each.open);
  old.replaceChildren(...fresh.childNodes);
  old.querySelectorAll("details").forEach((each, index) => { if (opened[index] !== undefined) each.open = opened[index]; });
}

/**
 * Ask again and again. `update(response)` handles what is new and returns whether more is expected soon.
 * Nothing is asked while the page is hidden.
 */
export async function follow(address, update, report = () => {}) {
  for (;;) {
    let soon = false;
    if (!document.hidden) {
      try {
        const reply = await request(address(), "text/html, application/json", 60);
        if (reply.status === 404 || reply.status === 410) { report(await problem(reply)); return; }
        if (reply.ok) { soon = await update(reply); report(""); } else report(await problem(reply));
      } catch { report("The server cannot be reached; trying again."); }
    }
    await new Promise((resume) => setTimeout(resume, soon ? AGAIN : IDLE));
  }
}

/** The message of an error. */
async function problem(reply) {
  try { return (await reply.json()).error; } catch { return reply.statusText; }
}
