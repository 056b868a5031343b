/**
 * How often nodes are asked about a contract or a token for which they do not answer, though they answer for others,
 * and hosts for metadata.
 */
const mostTries = 7;

/**
 * Returns when a failed try is made again: after 5 and 30 seconds, then 3 minutes and so on, up to 11 hours. The nodes
 * may have been at fault, and many hosts know a token only moments after its mint.
 * @param tries before this one
 * @returns undefined where it was the last
 */
export const dueAfter = (tries: number): Date | undefined =>
  tries + 1 < mostTries ? after(5 * 6 ** Math.min(tries, 5)) : undefined;

const minute = 60;
const textRests = [minute, 60 * minute, 24 * 60 * minute];

/** The same for texts that a contract leaves empty: a proxy may be set up later. */
export const textDueAfter = (tries: number): Date | undefined => {
  const rest = textRests[tries];
  return rest === undefined ? undefined : after(rest);
};

// A cluster evaluates no now() next to columns, so moments are parameters.
const after = (seconds: number) => new Date(Date.now() + seconds * 1_000);
