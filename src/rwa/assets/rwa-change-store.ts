import { isDeepStrictEqual } from 'node:util';
import type { Database, Tx } from '../../contract/transaction.ts';
import { type FieldError, parseRwaInput, type RwaInput } from './rwa-input.ts';
import type { RwaDetail } from './rwa-row.ts';
import { lockRwa } from './rwa-store.ts';

/*
 * How RWAs are created and changed, by operators and by their companies.
 */

/** The fields that may change, with their columns. */
const columnOf = {
  name: 'name',
  description: 'description',
  type: 'type',
  imageUrl: 'image_url',
  chainId: 'chain_id',
  contractAddress: 'contract_address',
  isBuyable: 'is_buyable',
  isClaimable: 'is_claimable',
  price: 'price',
  currency: 'currency',
  data: 'data',
  claimPage: 'claim_page',
  claimBaseUrl: 'claim_base_url',
} as const satisfies Record<keyof RwaInput, string>;

type Changeable = keyof typeof columnOf;
const changeable = Object.keys(columnOf) as Changeable[]; // the keys of a literal are its names

/** Tokens that exist stay on their network and contract. */
const fixedByNfts = ['chainId', 'contractAddress'] as const;

/** New values as text, flag or object; null clears, a field that is not named stays. */
export type RwaChange = { readonly [Field in Changeable]?: unknown };

/** Names an RWA and the company that it must belong to. */
export type RwaRef = { readonly companyId: string; readonly id: string };

export type ChangedRwa =
  | { readonly kind: 'missing' }
  | { readonly kind: 'faulty'; readonly errors: readonly FieldError[] }
  | {
      readonly kind: 'done';
      /** The names of the fields that have a new value. */
      readonly changed: readonly string[];
    };

/** Inserts an RWA of a company. Its network must be registered. @returns its id */
export async function insertRwa(db: Database, companyId: string, input: RwaInput): Promise<string> {
  const [row]: { id: string }[] = await db('rwas')
    .insert({ company_id: companyId, ...columnsOf(changeable, input) })
    .returning('id');
  if (row === undefined) throw new Error('An INSERT returned no row.');
  return row.id;
}

/**
 * Changes an RWA whose row it locks. The new values are checked together with the present values.
 * @param check called with the RWA before the change, under its lock; what it throws ends the change
 */
export async function updateRwa(
  tx: Tx,
  { companyId, id }: RwaRef,
  change: RwaChange,
  check: (before: RwaDetail) => void = () => {},
): Promise<ChangedRwa> {
  const rwa = await lockRwa(tx, companyId, id);
  if (rwa === undefined) return { kind: 'missing' };
  const before = mergeRwa(rwa, {});
  const after = mergeRwa(rwa, change);
  if (!after.ok) return { kind: 'faulty', errors: after.errors };
  if (!before.ok) throw new Error(`RWA ${id} is stored with a fault: ${JSON.stringify(before.errors)}`);
  const changed = changeable.filter((name) => !isDeepStrictEqual(before.input[name], after.input[name]));
  const errors =
    rwa.totalNfts === 0n ? [] : fixedByNfts.filter((field) => changed.includes(field)).map(fixed);
  if (errors.length > 0) return { kind: 'faulty', errors };
  check(rwa);
  if (changed.length > 0)
    await tx('rwas').where({ company_id: companyId, id }).update(columnsOf(changed, after.input));
  return { kind: 'done', changed };
}

/** Checks an RWA as it would be after a change. */
export const mergeRwa = (rwa: RwaDetail, change: RwaChange) => parseRwaInput({ ...inputOf(rwa), ...change });

/** Whether a change needs an examination of the contract: it names another contract, or NFTs become claimable on it. */
export const needsExamination = (before: RwaDetail, after: RwaInput): boolean =>
  after.chainId !== before.chainId ||
  after.contractAddress !== before.contractAddress ||
  (after.isClaimable && !before.isClaimable);

const fixed = (field: string): FieldError => ({
  field,
  message: 'cannot change: the RWA has NFTs. Create another RWA, and archive this one',
});

const columnsOf = (fields: readonly Changeable[], input: RwaInput) =>
  Object.fromEntries(fields.map((field) => [columnOf[field], input[field]]));

/** The RWA as the input that it would be created with. */
const inputOf = ({ ownClaimBaseUrl, ...rwa }: RwaDetail) => ({
  ...Object.fromEntries(changeable.map((field) => [field, rwa[field]])),
  claimBaseUrl: ownClaimBaseUrl,
});

/**
 * Takes an RWA out of the lists, so that its NFTs cannot be minted, or puts it back.
 * @returns whether that changed anything; undefined when the company has no such RWA
 */
export async function setArchived(
  tx: Tx,
  { companyId, id }: RwaRef,
  isArchived: boolean,
): Promise<boolean | undefined> {
  const rwa = await lockRwa(tx, companyId, id);
  if (rwa === undefined) return undefined;
  if ((rwa.archivedAt !== null) === isArchived) return false;
  // As the time of the change has it, which would be a moment earlier than the clock.
  await tx('rwas')
    .where({ company_id: companyId, id })
    .update({ archived_at: isArchived ? tx.raw('statement_timestamp()') : null });
  return true;
}

/**
 * Whether RWAs of other companies name this contract. It locks the name of the contract until the transaction ends, so
 * that two companies cannot both be the first.
 */
export async function isContractOfOthers(
  tx: Tx,
  companyId: string,
  { chainId, contractAddress }: Pick<RwaInput, 'chainId' | 'contractAddress'>,
): Promise<boolean> {
  await tx.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [
    `contract ${chainId} ${contractAddress}`,
  ]);
  const row: unknown = await tx('rwas')
    .where({ chain_id: chainId, contract_address: contractAddress })
    .whereNot('company_id', companyId)
    .first('id');
  return row !== undefined;
}
