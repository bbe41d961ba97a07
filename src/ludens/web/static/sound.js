// Two short tones, off unless switched on: it is your turn, and the game is over.
const KEY = "sound";
const TONES = { turn: [660], end: [660, 440] };
let context = null;

export function chime(name) {
  if (!context || localStorage.getItem(KEY) !== "on") return;
  TONES[name].forEach((frequency, index) => {
    const start = context.currentTime + index * 0.18;
    const tone = new OscillatorNode(context, { frequency });
    const volume = new GainNode(context, { gain: 0.08 });
    volume.gain.exponentialRampToValueAtTime(0.001, start + 0.16);
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + 0.16);
  });
}

/** The box that switches sound on; browsers allow sound only after a click. */
export function follow_sound(box) {
  box.checked = localStorage.getItem(KEY) === "on";
  const open = () => { if (box.checked) context ||= new AudioContext(); };
  box.addEventListener("change", () => {
    localStorage.setItem(KEY, box.checked ? "on" : "off");
    open();
    chime("turn");
  });
  document.addEventListener("pointerdown", open, { once: true });
}
