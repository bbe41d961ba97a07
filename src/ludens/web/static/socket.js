// A WebSocket that connects again until the seat is opened elsewhere or the game is gone.
import { request } from "./dom.js";

const REPLACED = 4001;
const STOPPED = 1001;
const TOO_BIG = 1009;
const GONE = [403, 404, 409];
const LONGEST_WAIT = 10_000;

// Whether a game is gone can only be asked by a plain request: a refused WebSocket has no status.
async function reason_of_refusal(path) {
  try {
    const reply = await request(path, "application/json", 10);
    return GONE.includes(reply.status) ? (await reply.json()).error : "";
  } catch {
    return "";
  }
}

export function connect(path, { message, state, gone }) {
  let socket = null;
  let wait = 500;
  let timer = null;

  function open() {
    window.clearTimeout(timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const mine = new WebSocket(`${scheme}//${location.host}${path}`);
    let opened = false;
    socket = mine;
    mine.addEventListener("open", () => { opened = true; wait = 500; });
    mine.addEventListener("message", (event) => { if (socket === mine) message(JSON.parse(event.data)); });
    mine.addEventListener("close", async (event) => {
      if (socket !== mine) return;
      socket = null;
      if (event.code === REPLACED) {
        state("This seat was opened in another window. Reload this page to play here.");
        return;
      }
      if (event.code === TOO_BIG) state("The message was too long and was not sent.");
      else if (event.code === STOPPED) state("The server was stopped. This page connects again when it is back.");
      else state("The connection is lost. Connecting again …");
      const reason = opened ? "" : await reason_of_refusal(path);
      if (reason) { gone(reason); return; }
      timer = window.setTimeout(open, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    });
  }

  // A network that is gone does not close the connection: what is sent is lost without a word.
  function drop() {
    if (!socket) return;
    const lost = socket;
    socket = null;
    lost.close();
    state("The connection is lost. Connecting again …");
    timer = window.setTimeout(open, wait);
  }

  window.addEventListener("offline", drop);
  window.addEventListener("online", () => { if (!socket && timer) open(); });
  open();
  return {
    drop,
    send(data) {
      if (!socket || socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(data));
      return true;
    },
  };
}
