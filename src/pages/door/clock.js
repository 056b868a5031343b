/*
 * The time of the service, by the clock of this phone. People and restarts change that clock, so an event keeps `skewMs`,
 * how far it is ahead, and `latestMs`, the latest time that this phone knows of.
 */

// Clocks that differ less are as good as the network between them.
const smallSkewMs = 5_000;
const smallStepMs = 60_000;

/** The time of the service. It never goes back. */
export const timeBy = ({ skewMs, latestMs }, now) => Math.max(now - skewMs, latestMs);

/** Whether the clock was set back, so that tickets which have expired would seem valid. */
export const isSetBack = ({ skewMs, latestMs }, now) => now - skewMs < latestMs - smallStepMs;

/** What the time of the service changes of an event. The service says it halfway between question and answer. */
export const clockBy = (serviceTime, askedAt, now) => ({
  skewMs: Math.round((askedAt + now) / 2 - serviceTime),
  latestMs: serviceTime,
});

/** What the `clockSkew` of an answer changes of an event. @returns undefined for nothing */
export function clockBySkew({ skewMs: earlier }, clockSkew, now) {
  const skewMs = clockSkew * 1_000;
  if (typeof clockSkew !== 'number' || Math.abs(skewMs - earlier) <= smallSkewMs) return undefined;
  return { skewMs, latestMs: now - skewMs };
}

/** Asks the service. An answer that took long does not say how the clocks differ. */
export async function askForSkew(ask, now) {
  const askedAt = now();
  const answer = await ask();
  const isSlow = Math.abs(now() - askedAt) > smallSkewMs;
  return isSlow && answer.body !== undefined ? { body: { ...answer.body, clockSkew: null } } : answer;
}
