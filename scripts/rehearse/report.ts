/**
 * Runs a step, prints how it went, and goes on after a failure.
 * @returns whether it passed
 */
export type Report = (title: string, step: () => Promise<void>) => Promise<boolean>;
