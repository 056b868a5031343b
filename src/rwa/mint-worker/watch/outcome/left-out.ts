import { readSigned } from '../../../../chain/minting/signer.ts';
import type { Database, Tx } from '../../../../contract/transaction.ts';
import { readRawAttempt } from '../../stores/attempt-store.ts';
import { listOpenNfts, setLeftOut, type TransactionNft } from '../../stores/transaction-nft-store.ts';
import type { OpenTransaction } from '../../stores/transaction-store.ts';

/** Lists the open NFTs of a transaction that its mined attempt tried to mint. */
export async function listTriedNfts(
  db: Database,
  { id, attempts }: OpenTransaction,
  minedHash: string,
): Promise<TransactionNft[]> {
  const nfts = await listOpenNfts(db, id);
  // A single attempt has all of them.
  if (attempts.length === 1) return nfts;
  const { mints } = readSigned(await readRawAttempt(db, minedHash));
  const tried = new Set(mints.map(({ tokenId }) => tokenId));
  return nfts.filter(({ tokenId }) => tried.has(tokenId));
}

/** Stores which NFTs of a transaction its mined attempt left out. */
export async function noteLeftOut(
  tx: Tx,
  { id, attempts }: OpenTransaction,
  minedHash: string,
): Promise<void> {
  if (attempts.length === 1) return;
  const { mints } = readSigned(await readRawAttempt(tx, minedHash));
  const tokenIds = mints.map(({ tokenId }) => tokenId);
  await setLeftOut(tx, id, tokenIds);
}
