// The page of runs: its list is kept up to date.
import { element } from "./dom.js";
import { follow, parse, replaceContents } from "./live.js";

const runs = element("runs");
follow(() => runs.dataset.live, async (reply) => {
  replaceContents(runs, parse(await reply.text()).body);
  return runs.querySelector(".is-in-progress") !== null;
});
