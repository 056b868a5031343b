/** The service that a program calls; `npm run sdk` says where it is. */
export type Live = {
  /** Address of the area's document, such as `http://localhost:3000/events/v1/api`. */
  readonly baseUrl: string;
  readonly key: string;
  readonly chainId: string;
  /** A wallet on that network. */
  readonly wallet: string;
};

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set. Run this program with: npm run sdk`);
  return value;
}

export const live: Live = {
  baseUrl: need('SDK_BASE_URL'),
  key: need('SDK_KEY'),
  chainId: need('SDK_CHAIN_ID'),
  wallet: need('SDK_WALLET'),
};

/** An id that no company has. */
export const unknownId = '00000000-0000-4000-8000-000000000000';

/** Asks until there is an answer. @throws Error after 30 s */
export async function until<T>(ask: () => Promise<T | null | undefined>): Promise<T> {
  const end = Date.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null) return answer;
    if (Date.now() > end) throw new Error('There was no answer in 30 s.');
    await new Promise((next) => setTimeout(next, 200));
  }
}
