// A WebSocket that reconnects, until the seat is opened elsewhere or the server refuses it.
const REPLACED = 4001;
const TOO_BIG = 1009;

export function connect(path, { message, state }) {
  let socket = null;
  let wait = 500;
  let refused = 0;

  function open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    let opened = false;
    socket = new WebSocket(`${scheme}//${location.host}${path}`);
    socket.addEventListener("open", () => { opened = true; wait = 500; refused = 0; });
    socket.addEventListener("message", (event) => message(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      if (event.code === REPLACED) {
        state("This seat was opened in another window. Reload this page to play here.");
        return;
      }
      if (!opened) refused += 1;
      if (refused > 8) {
        state("The game cannot be reached. Reload the page to try again.");
        return;
      }
      state(event.code === TOO_BIG ? "The message was too long and was not sent." : "Connecting …");
      window.setTimeout(open, wait);
      wait = Math.min(wait * 2, 10_000);
    });
  }

  open();
  return {
    send(data) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(data));
      return true;
    },
  };
}
