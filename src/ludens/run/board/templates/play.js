"use strict";
// Tic-tac-toe against a player whose reply to every position is in the page.
if (document.querySelector("#tree")) {
const replies = JSON.parse(document.querySelector("#tree").textContent);
const cells = [...document.querySelectorAll(".grid button")];
const LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
const score = { won: 0, drawn: 0, lost: 0 };
let board, last, seat;

const turn = () => "xo"[board.filter((mark) => mark !== ".").length % 2];
const line = () => LINES.find(([a, b, c]) => board[a] !== "." && board[a] === board[b] && board[b] === board[c]);
const over = () => Boolean(line()) || !board.includes(".");

function take(cell) {
  board[cell] = turn();
  last = String(cell);
}

function draw() {
  const ended = over(), three = line();
  cells.forEach((button, cell) => {
    const mark = board[cell];
    button.textContent = mark === "." ? "" : mark.toUpperCase();
    button.className = [mark === "." ? "" : mark, String(cell) === last ? "last" : "", three && three.includes(cell) ? "line" : ""].join(" ").trim();
    button.setAttribute("aria-label", button.dataset.cell + (mark === "." ? "" : ` ${mark.toUpperCase()}`));
    button.setAttribute("aria-disabled", String(ended || mark !== "."));
  });
  let says = `Your move: you are ${seat.toUpperCase()}.`;
  if (ended) says = !three ? "A draw." : board[three[0]] === seat ? "You win." : "nano wins.";
  document.querySelector("#state").textContent = says;
  document.querySelector("#score").textContent = `You: ${score.won} won, ${score.drawn} drawn, ${score.lost} lost.`;
}

function reply() {
  if (!over() && turn() !== seat) take(replies[turn()][board.join("") + last]);
  if (over()) score[!line() ? "drawn" : board[line()[0]] === seat ? "won" : "lost"] += 1;
  draw();
}

function begin() {
  board = [..."........."];
  last = "-";
  seat = document.querySelector("input[name=seat]:checked").value;
  reply();
}

cells.forEach((button, cell) => button.addEventListener("click", () => {
  if (over() || board[cell] !== "." || turn() !== seat) return;
  take(cell);
  reply();
}));
document.querySelector("#again").addEventListener("click", begin);
for (const choice of document.querySelectorAll("input[name=seat]")) choice.addEventListener("change", begin);
begin();
}
