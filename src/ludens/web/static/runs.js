// The page of runs: its list is kept up to date.
import { follow, parse, replaceContents } from "./live.js";

const runs = document.getElementById("runs");
follow(() => runs.dataset.live, async (reply) => {
  replaceContents(runs, parse(await reply.text()).body);
  return runs.querySelector(".is-in-progress") !== null;
});
