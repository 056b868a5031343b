import type { AgreedBlock } from '../../chain/holdings/agreed-block.ts';
import type { components } from '../../contract/generated/events.ts';
import type { Findings } from './holdings.ts';
import type { JudgedEntry } from './judge.ts';
import type { Token } from './token.ts';

type Schemas = components['schemas'];

/** Converts a judged entry to the contract's form. */
export function entryToApi({
  finding,
  state,
  reason,
  freeTokenIds,
}: JudgedEntry): Schemas['EligibilityEntry'] {
  const isDecided = state !== 'not_decidable' && !('undecidable' in finding);
  return {
    entry: finding.entry,
    state,
    reason,
    standard: finding.standard,
    chainId: finding.chainId === null ? null : Number(finding.chainId),
    contractAddress: finding.contract,
    tokenId: finding.tokenId,
    balance: isDecided ? finding.balance.toString() : null,
    freeTokenIds: freeTokenIds === null ? null : [...freeTokenIds],
    block: isDecided && finding.block !== null ? blockToApi(finding.block) : null,
  };
}

/** Converts a block to the contract's form. */
export const blockToApi = ({ chainId, number, hash, time }: AgreedBlock): Schemas['EligibilityBlock'] => ({
  chainId: Number(chainId),
  number: number.toString(),
  hash,
  time: time.toISOString(),
});

/** Converts a token to the contract's form. */
export const tokenToApi = ({ chainId, contract, tokenId }: Token): Schemas['AdmissionToken'] => ({
  chainId: Number(chainId),
  contractAddress: contract,
  tokenId,
});

/** The blocks at which findings were read, each once. */
export function blocksOf(findings: Findings): AgreedBlock[] {
  const blocks = [...findings.values()].flatMap(({ block }) => block ?? []);
  return [...new Map(blocks.map((block) => [`${block.chainId}:${block.hash}`, block])).values()];
}
