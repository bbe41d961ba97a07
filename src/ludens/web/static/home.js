// The home page: another position on click, and a search among the games.
import { element, searcher } from "./dom.js";

const MAX_SEED = 1e6;

async function show(button, seed) {
  const image = button.querySelector("img");
  const query = new URLSearchParams({ game: button.dataset.game, seed });
  button.dataset.seed = seed;
  const next = new Image();
  next.src = `/game-picture?${query}`;
  try { await next.decode(); } catch { return; }
  if (Number(button.dataset.seed) !== seed) return;
  image.src = next.src;
  describe(button);
}

/** The alt text of the picture is the text twin of the position. */
async function describe(button) {
  const query = new URLSearchParams({ game: button.dataset.game, seed: button.dataset.seed });
  const reply = await fetch(`/game-text?${query}`, { headers: { Accept: "application/json" } });
  if (reply.ok) button.querySelector("img").alt = (await reply.json()).text;
}

for (const button of document.querySelectorAll("button[data-game]")) {
  const image = button.querySelector("img");
  button.addEventListener("click", () => show(button, Math.floor(Math.random() * MAX_SEED)));
  image.addEventListener("error", () => button.classList.add("missing"));
  button.addEventListener("focus", () => describe(button), { once: true });
}

const search = element("search");

function filter() {
  const contains = searcher(search.value);
  let count = 0;
  for (const group of document.querySelectorAll(".group")) {
    let some = false;
    for (const card of group.querySelectorAll(".card")) {
      card.hidden = !contains(card.dataset.words);
      some ||= !card.hidden;
      count += card.hidden ? 0 : 1;
    }
    group.hidden = !some;
  }
  element("matches").textContent = search.value.trim() ? (count === 1 ? "1 game" : `${count} games`) : "";
}

search.addEventListener("input", filter);
filter();
