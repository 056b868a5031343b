export type RpcRequest = { readonly method: string; readonly params: readonly unknown[] };

type Answer = {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
};

export type ChainRpc = {
  /** @throws Error with the message of the node */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** Sends all requests in one message. @returns the results in their order @throws Error of the first failed one */
  batch(requests: readonly RpcRequest[]): Promise<unknown[]>;
};

const timeoutMs = 20_000;

/** A client of the local chain for any method, such as mining, which the service's own clients do not offer. */
export function createChainRpc(url: string): ChainRpc {
  const post = async (requests: readonly RpcRequest[]): Promise<unknown[]> => {
    const body = requests.map((request, id) => ({ jsonrpc: '2.0', id, ...request }));
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answers = (await response.json()) as Answer[]; // the node that we started speaks JSON-RPC
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    return requests.map(({ method }, id) => {
      const answer = byId.get(id);
      if (answer === undefined) throw new Error(`${method}: no answer`);
      if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result;
    });
  };
  return {
    call: async (method, ...params) => (await post([{ method, params }]))[0],
    batch: (requests) => (requests.length === 0 ? Promise.resolve([]) : post(requests)),
  };
}
