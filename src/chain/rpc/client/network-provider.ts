import {
  JsonRpcApiProvider,
  type JsonRpcError,
  type JsonRpcPayload,
  type JsonRpcResult,
  Network,
} from 'ethers';
import type { AskNetwork } from '../pool/failover.ts';

/**
 * An ethers provider over the nodes of one network, without the defaults of ethers: no batches (one slow call would
 * delay the others), no cache, no network detection, and no requests to URLs that a contract names (CCIP read) or
 * that ethers knows for a chain (gas stations).
 *
 * It is a class because ethers requires one; every request leaves through `_send`.
 */
export class NetworkProvider extends JsonRpcApiProvider {
  readonly #ask: AskNetwork;

  constructor(network: { readonly name: string; readonly chainId: string }, ask: AskNetwork) {
    // Constructed here, so that it has no plug-ins.
    const staticNetwork = new Network(network.name, BigInt(network.chainId));
    super(staticNetwork, {
      staticNetwork,
      batchMaxCount: 1,
      batchStallTime: 0,
      cacheTimeout: -1,
      // Filters exist in one node only and would be unknown to the next.
      polling: true,
    });
    this.#ask = ask;
    this.disableCcipRead = true;
    this._start();
  }

  /** Sends at once, in the scope of the caller. ethers itself sends from a timer, for all callers of that time. */
  override async send(method: string, params: JsonRpcPayload['params']): Promise<unknown> {
    const [answer] = await this._send({ jsonrpc: '2.0', id: 1, method, params });
    if (answer !== undefined && 'result' in answer) return answer.result;
    if (answer === undefined) throw new Error(`no answer to ${method}`);
    throw this.getRpcError({ jsonrpc: '2.0', id: 1, method, params }, answer);
  }

  override _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<(JsonRpcResult | JsonRpcError)[]> {
    const payloads = Array.isArray(payload) ? payload : [payload];
    return Promise.all(
      payloads.map(async ({ id, method, params }) => {
        const answer = await this.#ask(method, params);
        if ('result' in answer) return { id, result: answer.result };
        const { code, message, data } = answer.error;
        return { id, error: { code, message, data } };
      }),
    );
  }
}
