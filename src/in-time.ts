/**
 * What is answered in time; what comes later is dropped.
 * @throws Error with `late` as its message when the time is over first
 */
export async function inTime<T>(answer: Promise<T>, ms: number, late = `took over ${ms} ms`): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(late)), ms);
  });
  try {
    return await Promise.race([answer, over]);
  } finally {
    clearTimeout(timer);
  }
}
