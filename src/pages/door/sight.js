/* Codes in front of the camera, which sees each code many times a second. Pure. */

// A code that was out of sight for so long was shown again on purpose.
const awayMs = 3_000;
// A result stays so long at least, whatever moves in front of the camera.
const calmMs = 1_200;

/** Creates what decides on codes, all at times in milliseconds. @returns `{ see, calm }` */
export function createSight() {
  let last;
  let seenAt = Number.NEGATIVE_INFINITY;
  let calmUntil = Number.NEGATIVE_INFINITY;
  return {
    /** Sees a code. @returns whether it is to be judged; nothing is while another code is judged */
    see(code, now, isJudging = false) {
      const isStillThere = code === last && now - seenAt < awayMs;
      if (code === last) seenAt = now;
      if (isStillThere || isJudging || now < calmUntil) return false;
      last = code;
      seenAt = now;
      return true;
    },

    /** Notes that a result is shown. */
    calm(now) {
      calmUntil = now + calmMs;
    },
  };
}
