/* Sound and vibration, for a person who looks at the guest and not at the phone. */

// Each tone is a frequency in hertz and a length in seconds.
const tones = {
  good: [
    [880, 0.09],
    [1_320, 0.14],
  ],
  warn: [
    [440, 0.14],
    [440, 0.14],
  ],
  bad: [[180, 0.5]],
};
const shakes = { good: [80], warn: [80, 80, 80], bad: [400] };
const volume = 0.25;

/** Creates a function of a mood. Browsers allow sound only after a tap, so it is to be called in one. */
export function createSignals() {
  const Context = window.AudioContext || window.webkitAudioContext;
  const context = Context === undefined ? undefined : new Context();
  return (mood) => {
    if (context !== undefined) playTones(context, tones[mood]);
    if (navigator.vibrate) navigator.vibrate(shakes[mood]);
  };
}

function playTones(context, notes) {
  // A phone that was locked has put the sound to sleep.
  if (context.state !== 'running') void context.resume();
  let start = context.currentTime;
  for (const [frequency, seconds] of notes) {
    const gain = context.createGain();
    gain.gain.value = volume;
    gain.connect(context.destination);
    const oscillator = context.createOscillator();
    oscillator.frequency.value = frequency;
    oscillator.connect(gain);
    oscillator.start(start);
    oscillator.stop(start + seconds);
    start += seconds + 0.04;
  }
}
