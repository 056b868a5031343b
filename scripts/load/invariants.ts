import { id } from 'ethers';
import type { Database } from '../../src/contract/transaction.ts';
import type { BenchChain } from '../bench/mint/bench-chain.ts';

const countersSql = `
  SELECT 'event ' || e.id || ' counts ' || e.total_attendees || ' attendees of ' || count(a.*) AS wrong
  FROM events e LEFT JOIN attendees a ON a.event_id = e.id GROUP BY e.id
  HAVING e.total_attendees <> count(a.*)
  UNION ALL
  SELECT 'RWA ' || r.id || ' counts ' || r.total_nfts || ' and ' || r.claimed_nfts || ' NFTs of ' || count(n.*)
    || ' and ' || count(n.*) FILTER (WHERE n.mint_state = 'minted')
  FROM rwas r LEFT JOIN nfts n ON n.rwa_id = r.id GROUP BY r.id
  HAVING r.total_nfts <> count(n.*) OR r.claimed_nfts <> count(n.*) FILTER (WHERE n.mint_state = 'minted')`;

/** What of a consistent state is not so, in words: counters, and rows against the chain. */
export async function brokenInvariants(db: Database, chain: BenchChain): Promise<string[]> {
  const { rows: wrong }: { rows: { wrong: string }[] } = await db.raw(countersSql);
  const { rows: minted }: { rows: { token: string; hash: string }[] } = await db.raw(
    "SELECT token_id::text AS token, minted_tx AS hash FROM nfts WHERE mint_state = 'minted'",
  );
  const mints = await mintsOf(chain);
  const twice = [...mints].filter(([, hashes]) => hashes.length > 1);
  const untrue = minted.filter(({ token, hash }) => !mints.get(token)?.includes(hash));
  return [
    ...wrong.map((row) => row.wrong),
    ...twice.map(([token, hashes]) => `token ${token} was minted ${hashes.length} times`),
    ...untrue.map(({ token }) => `token ${token} is called minted, and the chain has no such mint`),
  ];
}

type Log = { readonly topics: readonly string[]; readonly transactionHash: string };
const zeroTopic = `0x${'0'.repeat(64)}`;

/** The hashes of the transactions that minted each token of the contract. */
async function mintsOf({ rpc, contract }: BenchChain): Promise<Map<string, string[]>> {
  const topics = [id('Transfer(address,address,uint256)'), zeroTopic];
  const filter = { address: contract, fromBlock: '0x0', toBlock: 'latest', topics };
  const logs = (await rpc.call('eth_getLogs', filter)) as Log[]; // of the local chain
  const found = new Map<string, string[]>();
  for (const {
    topics: [, , , token = '0'],
    transactionHash,
  } of logs) {
    const name = BigInt(token).toString();
    found.set(name, [...(found.get(name) ?? []), transactionHash]);
  }
  return found;
}

/** Accepted mints that are still on their way. */
export async function unfinishedMints(db: Database): Promise<number> {
  const { rows } = await db.raw(
    "SELECT count(*)::int AS count FROM nfts WHERE mint_state IN ('queued', 'submitted')",
  );
  return rows[0].count;
}
