/** Every text that an error and what it came from has: ethers puts the node's own words deep inside. */
export function textsOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const info: unknown = 'info' in error ? error.info : undefined;
  return [error.message, JSON.stringify(info) ?? ''];
}
