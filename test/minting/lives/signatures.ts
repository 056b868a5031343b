import { isSettled } from '../../../src/chain/minting/refusal.ts';
import { type Chain, readRaw, type Sent } from './chain.ts';
import { parseCall } from './contract.ts';

/* What signers have given to nodes, as the nodes have seen it. */

export type Broadcast = Sent & {
  /** Decimal ids of the tokens that it mints. */
  readonly tokens: readonly string[];
  readonly baseFee: bigint;
  /** How many base fees the chain had had by then. */
  readonly feesSeen: number;
  /** How many nonces of each account were used for good. */
  readonly finalNonces: ReadonlyMap<string, number>;
};

export type Signatures = ReturnType<typeof recordBroadcasts>;

export function recordBroadcasts(chain: Chain) {
  const all = new Map<string, Broadcast>();
  const refused = new Map<string, string[]>();
  const note = (raw: string) => {
    const sent = readRaw(raw);
    if (all.has(sent.hash)) return;
    const finalNonces = chain.finalized()?.state.nonces ?? new Map<string, number>();
    const market = { baseFee: chain.baseFee(), feesSeen: chain.fees.length };
    all.set(sent.hash, { ...sent, tokens: tokensOf(sent), finalNonces, ...market });
  };
  return {
    all: all as ReadonlyMap<string, Broadcast>,
    /** Takes notice of what a node is given, whatever it does with it. */
    note,
    /** Takes notice of the words with which a node rejects a transaction. */
    noteRefusal(raw: string, words: string): void {
      const key = nonceOf(readRaw(raw));
      if (!isSettled(words)) refused.set(key, [...(refused.get(key) ?? []), words]);
    },
    /** The words against what was signed for a nonce, but that a node has it or that it is used. */
    refusalsOf: (sent: Broadcast): readonly string[] => refused.get(nonceOf(sent)) ?? [],
  };
}

export const nonceOf = ({ from, nonce }: Pick<Sent, 'from' | 'nonce'>): string => `${from} ${nonce}`;

/** The ids of the tokens that a transaction mints, decimal. */
export function tokensOf({ data }: Pick<Sent, 'data'>): string[] {
  const call = parseCall(data);
  return call?.name === 'mintBatch' ? [...(call.args[1] as Iterable<bigint>)].map(String) : [];
}
