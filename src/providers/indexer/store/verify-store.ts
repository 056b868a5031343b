import type { Database } from '../../../contract/transaction.ts';
import type { IndexedBlock } from '../domain.ts';
import { blockRows } from './block-rows.ts';

/** How the index and the node differ in one block. */
export type Difference = {
  readonly wallet: string;
  readonly transactionIndex: number;
  readonly kind: 'missing' | 'other' | 'needless';
};

type Row = { readonly wallet: string; readonly tx_index: number; readonly content: string };

/**
 * Compares what is stored of a block with what was just read of it, for all wallets that the block touches.
 * @returns nothing when they agree
 */
export function createVerifyStore({ db }: { readonly db: Database }) {
  return {
    async compare(chainId: string, block: IndexedBlock): Promise<Difference[]> {
      const columns = blockRows([block], block.header.number).wallet_history;
      const values = (name: string) => columns[name]?.values ?? [];
      const expected = new Map(
        values('wallet').map((wallet, index) => [
          `${wallet} ${values('tx_index')[index]}`,
          ['tx_hash', 'block_hash', 'tx', 'moves'].map((name) => values(name)[index] ?? '').join(' '),
        ]),
      );
      const { rows } = await db.raw<{ rows: Row[] }>(
        `SELECT wallet::text, tx_index, concat_ws(' ', tx_hash, block_hash, tx, coalesce(moves::text, '')) AS content
         FROM wallet_history WHERE chain_id = ? AND block_number = ?
           AND wallet = ANY (string_to_array(?, ',')::bytea[])`,
        [chainId, String(block.header.number), [...new Set(values('wallet'))].join(',')],
      );
      return differences(
        expected,
        new Map(rows.map((row) => [`${row.wallet} ${row.tx_index}`, row.content])),
      );
    },
  };
}

function differences(
  expected: ReadonlyMap<string, string>,
  stored: ReadonlyMap<string, string>,
): Difference[] {
  const toDifference = (key: string, kind: Difference['kind']) => {
    const [wallet = '', index] = key.split(' ');
    return { wallet: `0x${wallet.slice(2)}`, transactionIndex: Number(index), kind };
  };
  const wanting = [...expected].flatMap(([key, content]) => {
    const found = stored.get(key);
    if (found === content) return [];
    return [toDifference(key, found === undefined ? 'missing' : 'other')];
  });
  const needless = [...stored.keys()].filter((key) => !expected.has(key));
  return [...wanting, ...needless.map((key) => toDifference(key, 'needless'))];
}
