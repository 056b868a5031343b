/**
 * How often nodes are asked about a contract or a token for which they do not answer, though they answer for others,
 * and hosts for metadata.
 */
export const mostTries = 7;

/**
 * Returns SQL of the rest after a failed try: 5 and 30 seconds, then 3 minutes and so on, up to 11 hours. The nodes
 * may have been at fault, and many hosts know a token only moments after its mint.
 * @param tries SQL of the number of tries before this one
 */
export const restAfter = (tries: string): string => `interval '5 seconds' * power(6, least(${tries}, 5))`;
