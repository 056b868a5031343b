/** A JSON-RPC request. */
export type Call = { readonly id?: unknown; readonly method: string; readonly params: readonly unknown[] };

export type Answer = {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
};

/** What a caller gets: an answer, a broken connection, nothing at all, or a bare HTTP status. */
export type Reply = Answer | 'drop' | 'hang' | { readonly status: number };

export type Pass = (call: Call) => Promise<Reply>;

/**
 * A quality that a node has for good. It stands between the caller and the rest of the node: it answers itself, changes
 * the request or the answer, or passes both on. Flaws are composable; the first of a list is nearest to the caller.
 */
export type Flaw = (call: Call, pass: Pass) => Promise<Reply>;

/** Puts flaws in front of a node; the first is nearest to the caller. */
export const withFlaws = (flaws: readonly Flaw[], node: Pass): Pass =>
  flaws.reduceRight<Pass>((pass, flaw) => (call) => flaw(call, pass), node);

/** A flaw of these methods; all others are passed on. */
export const of =
  (methods: readonly string[], flaw: Flaw): Flaw =>
  (call, pass) =>
    methods.includes(call.method) ? flaw(call, pass) : pass(call);

export const failure = (code: number, message: string): Answer => ({ error: { code, message } });

/** The result of a reply; undefined when it is no answer, or an error. */
export const resultOf = (reply: Reply): unknown =>
  typeof reply === 'object' && 'result' in reply ? reply.result : undefined;

/** A field of a JSON object; undefined when the value is none. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** A hexadecimal quantity as a number; undefined for tags and everything else. */
export const quantityOf = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) && value.length < 20 ? BigInt(value) : undefined;

export const hexOf = (number: bigint): string => `0x${number.toString(16)}`;

/** Asks the node beneath for a quantity. */
export async function askQuantity(pass: Pass, method: string, params: readonly unknown[] = []) {
  const found = quantityOf(resultOf(await pass({ method, params })));
  if (found === undefined) throw new Error(`${method} of the node beneath is no quantity`);
  return found;
}

/** Asks the node beneath for the number of the block with this tag; undefined when it has none. */
export async function askTag(pass: Pass, tag: string): Promise<bigint | undefined> {
  const block = resultOf(await pass({ method: 'eth_getBlockByNumber', params: [tag, false] }));
  return quantityOf(fieldOf(block, 'number'));
}
