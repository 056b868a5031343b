import type { AgreedBlock } from '../../chain/holdings/agreed-block.ts';
import type { Database } from '../../contract/transaction.ts';

/** What a wallet owns of an RWA, as the ledger of its contract says. */
export type RwaHolding = {
  readonly rwaId: string;
  readonly chainId: string;
  readonly contract: string;
  readonly balance: bigint;
  readonly tokenIds: readonly string[];
  /** Up to where the ledger has read; undefined when it has read nothing, or nothing lately. */
  readonly block: AgreedBlock | undefined;
};

type Row = {
  rwa_id: string;
  chain_id: string;
  contract_address: string;
  number: string | null;
  hash: string;
  time: Date;
  balance: string;
  token_ids: string[];
};

// A worker notes each poll, also without transfers. After this time nobody knows whether a token was sold.
const longestSilence = '5 minutes';

type RwaQuestion = {
  readonly companyId: string;
  readonly ids: readonly string[];
  /** EIP-55. */
  readonly wallet: string;
  /** A number of the first tokens, or the ids of tokens. */
  readonly tokens: number | readonly string[];
};

/** Finds what a wallet owns of RWAs of a company. An RWA of another company is not among them. */
export async function findRwaHoldings(
  db: Database,
  { companyId, ids, wallet, tokens }: RwaQuestion,
): Promise<RwaHolding[]> {
  const { rows }: { rows: Row[] } = await db.raw(
    `SELECT r.id AS rwa_id, r.chain_id, r.contract_address, l.number, l.hash, l.time,
       (SELECT count(*) FROM nfts n WHERE n.company_id = r.company_id AND n.owner = :wallet AND n.rwa_number = r.number) AS balance,
       ARRAY (SELECT n.token_id::text FROM nfts n
         WHERE n.company_id = r.company_id AND n.owner = :wallet AND n.rwa_number = r.number
           AND (:named::numeric[] IS NULL OR n.token_id = ANY (:named::numeric[]))
         ORDER BY n.serial LIMIT :mostTokens) AS token_ids
     FROM rwas r LEFT JOIN nft_ledgers l ON l.chain_id = r.chain_id AND l.contract = r.contract_address
       AND l.number >= l.first_block AND l.caught_up_at > clock_timestamp() - interval '${longestSilence}'
     WHERE r.company_id = :companyId AND r.id = ANY (:ids::uuid[])`,
    {
      companyId,
      ids: [...ids],
      wallet,
      mostTokens: typeof tokens === 'number' ? tokens : null,
      named: typeof tokens === 'number' ? null : [...tokens],
    },
  );
  return rows.map((row) => ({
    rwaId: row.rwa_id,
    chainId: row.chain_id,
    contract: row.contract_address,
    balance: BigInt(row.balance),
    tokenIds: row.token_ids,
    block:
      row.number === null
        ? undefined
        : { chainId: row.chain_id, number: BigInt(row.number), hash: row.hash, time: row.time },
  }));
}
