import type { Database } from '../../../../contract/transaction.ts';
import type { ContractText } from '../../decode/domain.ts';
import { bytes, hex } from '../rows/bulk-store.ts';

/** The token contracts that the index has seen, and what they report of themselves. */
const table = 'token_contracts';

export type KnownContract = ContractText & { readonly contract: string; readonly standard: 20 | 721 | 1155 };

type Row = Omit<KnownContract, 'contract'> & { readonly contract: Buffer };

/** The result of a read of a contract. */
type ReadContract = ContractText & {
  readonly contract: string;
  /** When it is read again; undefined where its texts are known, or were read often enough. */
  readonly due: Date | undefined;
};

export type UnreadContract = Pick<KnownContract, 'contract' | 'standard'> & {
  /** How often it was read. */
  readonly tries: number;
};

/** Returns the known contracts among these, in no particular order. */
export async function findContracts(
  db: Database,
  chainId: string,
  contracts: readonly string[],
): Promise<KnownContract[]> {
  if (contracts.length === 0) return [];
  const { rows } = await db.raw<{ rows: Row[] }>(
    `SELECT contract, standard, name, symbol, decimals FROM token_contracts
     WHERE chain_id = ? AND contract = ANY (string_to_array(?, ',')::bytea[])`,
    [chainId, contracts.map(bytes).join(',')],
  );
  return rows.map((row) => ({ ...row, contract: hex(row.contract) }));
}

/** Returns contracts whose texts are not known and that do not wait after a try. */
export async function listUnreadContracts(
  db: Database,
  chainId: string,
  limit: number,
): Promise<UnreadContract[]> {
  const rows: (Row & { readonly read_tries: number })[] = await db(table)
    .where('chain_id', chainId)
    .whereNull('read_at')
    .where('read_due', '<=', db.fn.now())
    .orderBy('read_due')
    .limit(limit)
    .select('contract', 'standard', 'read_tries');
  return rows.map(({ contract, standard, read_tries: tries }) => ({
    contract: hex(contract),
    standard,
    tries,
  }));
}

/** Stores the texts of contracts, and marks those as read that are not read again. */
export async function saveContractTexts(
  db: Database,
  chainId: string,
  read: readonly ReadContract[],
): Promise<void> {
  const now = new Date();
  await db.raw(
    `UPDATE token_contracts t SET name = coalesce(r.name, t.name), symbol = coalesce(r.symbol, t.symbol),
       decimals = coalesce(r.decimals, t.decimals),
       read_tries = t.read_tries + 1, read_due = r.due, read_at = r.read_at
     FROM json_to_recordset(?) AS r
       (contract bytea, name text, symbol text, decimals smallint, due timestamptz, read_at timestamptz)
     WHERE t.chain_id = ? AND t.contract = r.contract`,
    [
      JSON.stringify(
        read.map(({ contract, due, ...text }) => ({
          ...text,
          contract: bytes(contract),
          due: due ?? now,
          read_at: due === undefined ? now : null,
        })),
      ),
      chainId,
    ],
  );
}

const contractsAtOnce = 10_000;

/**
 * Has the texts of contracts read again; the known texts stay until then.
 * @param contract undefined for all of the network
 * @returns how many there are
 */
export async function refreshContracts(
  db: Database,
  chainId: string,
  contract: string | undefined,
): Promise<number> {
  const own = () => db(table).where('chain_id', chainId);
  const unread = { read_at: null, read_tries: 0, read_due: new Date() };
  if (contract !== undefined) {
    return own()
      .where('contract', Buffer.from(contract.slice(2), 'hex'))
      .update(unread);
  }
  let count = 0;
  for (let after = Buffer.alloc(0); ; ) {
    const next = () => own().where('contract', '>', after);
    const found: Buffer[] = await next().orderBy('contract').limit(contractsAtOnce).pluck('contract');
    const last = found.at(-1);
    if (last === undefined) return count;
    count += await next().where('contract', '<=', last).update(unread);
    after = Buffer.from(last);
  }
}
