/** How often nodes are asked about a contract or a token that they do not answer, though they answer others. */
export const mostTries = 7;

/**
 * SQL of the rest after a try in vain: 5 and 30 seconds, then 3 minutes and so on, up to 11 hours. It may have been the nodes'
 * doing after all.
 * @param tries SQL of the number of tries before this one
 */
export const restAfter = (tries: string): string => `interval '5 seconds' * power(6, least(${tries}, 5))`;
