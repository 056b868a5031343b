import type { Database } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { type ClaimSecretVault, sealNewSecret } from '../../assets/claim-secret.ts';
import { type Disagreement, judgeEvent } from '../../minting/compare/compare-page.ts';
import { type ContractId, listTokenRows } from '../../minting/compare/token-row-store.ts';
import type { TokenRow } from '../../minting/compare/token-verdict.ts';
import { deleteMintNotes } from '../../minting/mint-note-store.ts';
import {
  correctMintedNfts,
  type FoundNft,
  failTakenNfts,
  insertLostNfts,
  type LostNft,
  lockTokens,
  mintFoundNfts,
} from '../../minting/mint-repair-store.ts';
import { releaseNfts, unmintNfts } from '../../minting/mint-state-store.ts';
import { refreshOwners } from '../../ownership/ledger-store.ts';

/** The work on the disagreements of a page. */
type Repairs = {
  readonly minted: readonly FoundNft[];
  readonly corrected: readonly FoundNft[];
  readonly failed: readonly { readonly nftId: string; readonly reason: string }[];
};

type Judged = Disagreement & Required<Pick<Disagreement, 'event' | 'facts'>>;

/** Fixes the rows of a page in one transaction, by what they say when they are locked. */
export function recoverPage(
  db: Database,
  contract: ContractId,
  vault: ClaimSecretVault,
  found: readonly Disagreement[],
): Promise<void> {
  const known = found.flatMap(({ event, facts, ...rest }) =>
    event && facts ? [{ ...rest, event, facts }] : [],
  );
  const tokenIds = known.map(({ tokenId }) => tokenId);
  return inTransaction(db, async (tx) => {
    await lockTokens(tx, contract, tokenIds);
    const rows = rowsByToken(await listTokenRows(tx, contract, tokenIds));
    const present = known.flatMap(({ event, facts }) => {
      const now = judgeEvent(event, rows.get(event.tokenId) ?? [], facts);
      return now === undefined ? [] : [{ ...now, event, facts }];
    });
    const repairs = planRepairs(present);
    await mintFoundNfts(tx, contract.chainId, repairs.minted);
    await correctMintedNfts(tx, repairs.corrected);
    await failTakenNfts(tx, repairs.failed);
    await insertLostNfts(tx, contract.chainId, lostNfts(present, rows, vault));
    await refreshOwners(tx, contract, tokenIds);
    const changed = [...repairs.minted, ...repairs.failed].map(({ nftId }) => nftId);
    await deleteMintNotes(tx, changed);
  });
}

/**
 * Queues NFTs again whose rows say minted, and whose tokens the chain does not have; in one transaction. Where a lane still watches
 * the transaction of an NFT, the lane takes the mint back.
 */
export function queueGone(db: Database, contract: ContractId, gone: readonly Disagreement[]): Promise<void> {
  const tokenIds = gone.map(({ tokenId }) => tokenId);
  return inTransaction(db, async (tx) => {
    await lockTokens(tx, contract, tokenIds);
    const rows = await listTokenRows(tx, contract, tokenIds);
    const known = rows.flatMap(({ nft }) =>
      nft?.state === 'minted' && nft.recipient !== null ? [nft.id] : [],
    );
    const watched: string[] = await tx('mint_transaction_nfts')
      .whereIn('nft_id', known)
      .where('state', 'open')
      .pluck('nft_id');
    const ids = known.filter((id) => !watched.includes(id));
    await unmintNfts(tx, ids);
    await tx('nfts')
      .whereIn('id', ids)
      .whereNull('queued_at')
      .update({ queued_at: tx.raw('clock_timestamp()') });
    await releaseNfts(tx, null, ids);
    await refreshOwners(tx, contract, tokenIds);
  });
}

const rowsByToken = (rows: readonly TokenRow[]) => Map.groupBy(rows, ({ tokenId }) => tokenId);

/** Whether the disagreement is over once its page is recovered; the others need a person. */
export function isMended({ kind, nftState }: Disagreement): boolean {
  if (kind === 'other_recipient') return nftState === 'queued' || nftState === 'submitted';
  return ['not_recorded', 'other_transaction', 'no_row'].includes(kind);
}

function planRepairs(present: readonly Judged[]): Repairs {
  const of = (kind: Disagreement['kind']) =>
    present.flatMap(({ event, facts, nftId, ...found }) =>
      found.kind === kind && nftId !== null ? [{ event, nftId, time: facts.time }] : [],
    );
  return {
    minted: of('not_recorded'),
    corrected: of('other_transaction'),
    failed: of('other_recipient').map(({ nftId, event }) => ({
      nftId,
      reason: `The token was minted to another recipient, ${event.recipient}, in transaction ${event.hash}.`,
    })),
  };
}

function lostNfts(
  present: readonly Judged[],
  rows: ReadonlyMap<string, readonly TokenRow[]>,
  vault: ClaimSecretVault,
): LostNft[] {
  return present.flatMap(({ event, facts, kind }) => {
    const [row] = rows.get(event.tokenId) ?? [];
    if (!row?.rwa || kind !== 'no_row') return [];
    const { id: nftId, sealed } = sealNewSecret(vault);
    return [{ event, time: facts.time, nftId, sealed, rwaId: row.rwa.id }];
  });
}
