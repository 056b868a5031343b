/**
 * Waits for work, but at most for a time. The result of work that settles later is dropped.
 * @param ms the time in milliseconds
 * @param late message of the error
 * @throws what the work throws, or Error with `late` as its message when the time is up first
 */
export function inTime<T>(work: Promise<T>, ms: number, late = `took over ${ms} ms`): Promise<T> {
  return unlessStopped(work, (stop) => {
    const timer = setTimeout(() => stop(new Error(late)), ms);
    return () => clearTimeout(timer);
  });
}

/**
 * Waits for work, but only until the signal aborts. The result of work that settles later is dropped.
 * @throws what the work throws, or the signal's reason when it aborts first
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return unlessStopped(work, (stop) => {
    const onAbort = () => stop(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    return () => signal.removeEventListener('abort', onAbort);
  });
}

/** @param watch calls `stop` to end the waiting; returns a function that ends the watching */
async function unlessStopped<T>(
  work: Promise<T>,
  watch: (stop: (reason: unknown) => void) => () => void,
): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const unwatch = watch(stopped.reject);
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    unwatch();
  }
}
