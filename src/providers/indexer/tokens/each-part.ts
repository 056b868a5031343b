/**
 * Does each part of some work in turn, also after another part failed.
 * @param parts each returns whether it has more
 * @returns whether any part has more
 * @throws the error of the first part that failed, after all parts ran
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
