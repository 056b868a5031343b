/** A JSON-RPC request. */
export type Call = { readonly id?: unknown; readonly method: string; readonly params: readonly unknown[] };

export type Answer = {
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly message: string; readonly data?: unknown };
};

/** A response that need not be JSON-RPC. `isCut` closes the connection after the body. */
export type Bare = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string | Buffer;
  readonly isCut?: true;
};

/** What a caller gets: an answer, a broken connection, nothing at all, or a bare HTTP response. */
export type Reply = Answer | 'drop' | 'hang' | Bare;

export type Pass = (call: Call) => Promise<Reply>;

/**
 * A flaw stands between the caller and the rest of the node. It answers itself, or changes the request or the answer;
 * undefined lets the rest of the node answer. If it throws, the connection breaks. Flaws are composable; the first in a
 * list is nearest to the caller.
 */
export type Flaw = (call: Call, pass: Pass) => Promise<Reply | undefined> | Reply | undefined;

/**
 * Puts flaws in front of a node; the first is nearest to the caller.
 * @param onFlawed is called with each call that a flaw did not leave to the rest
 */
export const withFlaws = (flaws: readonly Flaw[], node: Pass, onFlawed?: (call: Call) => void): Pass =>
  flaws.reduceRight<Pass>(
    (pass, flaw) => async (call) => {
      const reply = await flaw(call, pass);
      if (reply !== undefined) onFlawed?.(call);
      return reply ?? pass(call);
    },
    node,
  );

/** A flaw of this method, or of these. */
export const of =
  (methods: string | readonly string[], flaw: Flaw): Flaw =>
  (call, pass) =>
    [methods].flat().includes(call.method) ? flaw(call, pass) : undefined;

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
