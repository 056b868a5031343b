import { rwaNumberOf } from '../../../src/rwa/assets/token-id.ts';
import { listHolders } from '../../../src/rwa/ownership/holder-store.ts';
import { listSnapshotHolders } from '../../../src/rwa/ownership/snapshot-store.ts';
import type { World } from './world.ts';

/* Who owns what, as rows, the ledger and snapshots say it, beside the chain. Each function returns what is wrong, in words. */

export async function judgeOwners(world: World): Promise<string[]> {
  // The ledger takes a node's word for it that a block has no events of a contract.
  if (world.state.isLedgerDeceived) return [];
  return [...(await owners(world)), ...(await holders(world)), ...(await snapshots(world))];
}

/** Owners in the rows of NFTs. */
async function owners({ chain, db }: World): Promise<string[]> {
  const { owners: onChain } = chain.head().state.contract;
  const rows = await db('nfts').where({ mint_state: 'minted' }).orderBy(['rwa_number', 'serial']);
  return rows.flatMap(({ rwa_number: rwa, serial, token_id: token, owner }) => {
    const is = onChain.get(token);
    return owner?.toLowerCase() === is
      ? []
      : [`NFT ${rwa}/${serial} belongs to ${owner}, on the chain to ${is}`];
  });
}

type Holders = readonly { readonly wallet: string; readonly tokenIds: readonly string[] }[];

const inWords = (found: Holders): string =>
  found
    .map(({ wallet, tokenIds }) => `${wallet.toLowerCase()}: ${tokenIds.toSorted()}`)
    .sort()
    .join('; ');

/** The holders of an RWA after a block. */
function onChain({ chain }: World, block: number, rwa: string): string {
  const all = chain.blocks[block]?.state.contract.owners ?? new Map<string, string>();
  const ofRwa = [...all].filter(([token]) => rwaNumberOf(token) === BigInt(rwa));
  const byWallet = Map.groupBy(ofRwa, ([, wallet]) => wallet);
  return inWords([...byWallet].map(([wallet, held]) => ({ wallet, tokenIds: held.map(([token]) => token) })));
}

/** Holders of each RWA at the newest block that was read. */
async function holders(world: World): Promise<string[]> {
  const rows = await world
    .db('rwas as r')
    .join('nft_ledgers as l', { 'l.chain_id': 'r.chain_id', 'l.contract': 'r.contract_address' })
    .select('r.company_id', 'r.number', 'r.chain_id', 'r.contract_address', 'l.number as block');
  const found: string[] = [];
  for (const { company_id: companyId, number, chain_id: chainId, contract_address, block } of rows) {
    const rwa = { companyId, number: BigInt(number), chainId, contractAddress: contract_address };
    const says = inWords(await listHolders(world.db, rwa, BigInt(block)));
    const is = onChain(world, Number(block), number);
    if (says !== is) found.push(`RWA ${number} has the holders ${says}, on the chain ${is}`);
  }
  return found;
}

async function snapshots(world: World): Promise<string[]> {
  // What was taken stays, though its block is gone.
  if (world.state.hasRolledBack) return [];
  const rows = await world
    .db('ownership_snapshots as s')
    .join('rwas as r', 'r.id', 's.rwa_id')
    .select('s.*', 'r.number');
  const found: string[] = [];
  for (const { id, company_id: companyId, number, block_number: at, block_hash: hash } of rows) {
    if (hash === null) found.push(`the snapshot at block ${at} is not taken`);
    else if (hash !== world.chain.blocks[Number(at)]?.hash)
      found.push(`the snapshot at block ${at} is of a block that is not there`);
    else {
      const all = await listSnapshotHolders(world.db, companyId, id, { after: '', limit: 1_000 });
      const [says, is] = [inWords(all), onChain(world, Number(at), number)];
      if (says !== is) found.push(`the snapshot at block ${at} has the holders ${says}, the chain ${is}`);
    }
  }
  return found;
}
