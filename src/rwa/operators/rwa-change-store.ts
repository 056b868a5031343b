import { isDeepStrictEqual } from 'node:util';
import type { Tx } from '../../contract/transaction.ts';
import { findOperatorRwa, type OperatorRwa } from './rwa-admin-store.ts';
import { type FieldError, parseRwaInput } from './rwa-input.ts';

/*
 * How operators change RWAs. Network and contract stay for ever: the tokens that were minted are on them.
 */

/** What may change, with its column. */
const columnOf = {
  name: 'name',
  description: 'description',
  type: 'type',
  imageUrl: 'image_url',
  isBuyable: 'is_buyable',
  isClaimable: 'is_claimable',
  price: 'price',
  currency: 'currency',
  data: 'data',
  claimBaseUrl: 'claim_base_url',
} as const;

type Changeable = keyof typeof columnOf;
const changeable = Object.keys(columnOf) as Changeable[]; // the keys of a literal are its names

/** New values as text, flag or object; null clears, what is not named stays. */
export type RwaChange = { readonly [Field in Changeable]?: unknown };

type Row = { readonly [Column in (typeof columnOf)[Changeable]]: unknown } & {
  readonly chain_id: string;
  readonly contract_address: string;
  readonly claim_page: boolean;
};

export type ChangedRwa =
  | { readonly kind: 'missing' }
  | { readonly kind: 'faulty'; readonly errors: readonly FieldError[] }
  | {
      readonly kind: 'done';
      readonly rwa: OperatorRwa;
      /** The names of what is other than before. */
      readonly changed: readonly string[];
    };

/**
 * Changes an RWA whose row it locks: what is given is checked together with what stays.
 */
export async function updateRwa(tx: Tx, id: string, change: RwaChange): Promise<ChangedRwa> {
  const row: Row | undefined = await tx('rwas')
    .where({ id })
    .forNoKeyUpdate()
    .first([...Object.values(columnOf), 'chain_id', 'contract_address', 'claim_page']);
  if (row === undefined) return { kind: 'missing' };
  const before = parseRwaInput(toInput(row));
  const after = parseRwaInput({ ...toInput(row), ...change });
  if (!after.ok) return { kind: 'faulty', errors: after.errors };
  if (!before.ok) throw new Error(`RWA ${id} is stored with a fault: ${JSON.stringify(before.errors)}`);
  const changed = changeable.filter((name) => !isDeepStrictEqual(before.input[name], after.input[name]));
  if (changed.length > 0) {
    await tx('rwas')
      .where({ id })
      .update(Object.fromEntries(changed.map((name) => [columnOf[name], after.input[name]])));
  }
  const rwa = await findOperatorRwa(tx, id);
  return rwa === undefined ? { kind: 'missing' } : { kind: 'done', rwa, changed };
}

const toInput = (row: Row) => ({
  ...Object.fromEntries(changeable.map((name) => [name, row[columnOf[name]]])),
  chainId: row.chain_id,
  contractAddress: row.contract_address,
  claimPage: row.claim_page,
});

/**
 * Takes an RWA out of the lists, so that its NFTs cannot be minted, or puts it back.
 * @returns whether that changed anything; undefined when there is none with this id
 */
export async function setArchived(tx: Tx, id: string, isArchived: boolean): Promise<boolean | undefined> {
  const row: { archived_at: Date | null } | undefined = await tx('rwas')
    .where({ id })
    .forNoKeyUpdate()
    .first('archived_at');
  if (row === undefined) return undefined;
  if ((row.archived_at !== null) === isArchived) return false;
  // As the time of the change has it, which would be a moment earlier than the clock.
  await tx('rwas')
    .where({ id })
    .update({ archived_at: isArchived ? tx.raw('statement_timestamp()') : null });
  return true;
}
