/**
 * Does each part of some work in turn, whatever becomes of the others.
 * @param parts each returns whether there may be more of it
 * @returns whether there may be more of any
 * @throws what the first that failed has thrown, when all have been done
 */
export async function inEachPart(...parts: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  const failures: unknown[] = [];
  let mayBeMore = false;
  for (const part of parts) {
    try {
      mayBeMore = (await part()) || mayBeMore;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return mayBeMore;
}
