import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { deleteMintNotes } from '../../minting/mint-note-store.ts';
import { lockTokens, mintFoundNfts } from '../../minting/mint-repair-store.ts';
import { refreshOwners } from '../../ownership/ledger-store.ts';
import type { Proving } from './mint-proof.ts';
import { type RequestedMint, wakeLanes } from './mint-remedy-store.ts';

/** Records a mint that the chain has and the row of its NFT lacks. */
export function recordMint(
  { db, network: { chainId }, onChange }: Pick<Proving, 'db' | 'network' | 'onChange'>,
  { contract, nftId, tokenId }: RequestedMint,
  found: { readonly event: MintEvent; readonly time: Date },
): Promise<{ readonly state: 'minted' }> {
  return inTransaction(db, async (tx) => {
    const minted = { state: 'minted' } as const;
    await lockTokens(tx, { chainId, contract }, [tokenId]);
    await mintFoundNfts(tx, chainId, [{ nftId, ...found }]);
    await refreshOwners(tx, { chainId, contract }, [tokenId]);
    await deleteMintNotes(tx, [nftId]);
    await wakeLanes(tx);
    await onChange(tx, minted);
    return minted;
  });
}
