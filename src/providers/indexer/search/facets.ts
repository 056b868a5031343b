import type { HistoryFilter } from '../../provider.ts';
import type { StoredMoves, StoredTransaction } from '../store/stored-moves.ts';
import { directionBits } from './kinds.ts';

/** What a search looks at: one transaction as its wallet sees it. */
export type SearchedRow = {
  readonly wallet: string;
  readonly transaction: Pick<StoredTransaction, 'from' | 'to' | 'created'>;
  readonly moves: Pick<StoredMoves, 'native' | 'erc20' | 'nft' | 'approvals'>;
};

/**
 * What can be searched for in a row: a token, a counterparty, or both of one transfer. Of the addresses only the first
 * bytes, in hex: a row is compared with the whole ones before it is shown.
 */
type Facet = string;

const tokenFacet = (token: string): Facet => `02${token.slice(2, 22)}`;
const counterpartyFacet = (account: string): Facet => `01${account.slice(2, 22)}`;
const bothFacet = (token: string, account: string): Facet => `03${token.slice(2, 18)}${account.slice(2, 18)}`;

/** A token, a counterparty, or both, and in which direction something of it was transferred: a sum of bits. */
type Contact = {
  readonly token: string | null;
  readonly account: string | null;
  readonly directions: number;
};

/** Everything in the row that a search by token or counterparty may mean. */
function contactsOf({ wallet, transaction, moves }: SearchedRow): Contact[] {
  const contacts: Contact[] = [];
  const add = (token: string | null, account: string | null, directions: number) =>
    contacts.push({ token, account, directions });
  const transfer = (token: string | null, { from, to }: { readonly from: string; readonly to: string }) => {
    const isSent = from === wallet;
    add(token, isSent ? to : from, isSent ? directionBits.send : directionBits.receive);
  };
  const { from, to, created } = transaction;
  if (from === wallet) add(null, to ?? created, 0);
  else if (to === wallet || created === wallet) add(null, from, 0);
  for (const move of moves.native) transfer(null, move);
  for (const move of moves.erc20) transfer(move.token, move);
  for (const move of moves.nft) transfer(move.token, move);
  for (const { token, spender } of moves.approvals) add(token, spender, 0);
  return contacts;
}

/** In which directions the row transfers anything: a sum of bits. */
export function directionsOf({ wallet, moves }: SearchedRow): number {
  let bits = 0;
  for (const list of [moves.native, moves.erc20, moves.nft]) {
    for (const { from } of list) bits |= from === wallet ? directionBits.send : directionBits.receive;
  }
  return bits;
}

/** Every facet of the row with the directions of its own transfers. */
export function facetsOf(row: SearchedRow): ReadonlyMap<Facet, number> {
  const facets = new Map<Facet, number>();
  const add = (facet: Facet, directions: number) => facets.set(facet, (facets.get(facet) ?? 0) | directions);
  for (const { token, account, directions } of contactsOf(row)) {
    if (token !== null) add(tokenFacet(token), directions);
    if (account !== null) add(counterpartyFacet(account), directions);
    if (token !== null && account !== null) add(bothFacet(token, account), directions);
  }
  return facets;
}

/** The facets that the filter asks for, one of which a row must have; undefined when it asks for none. */
export function wantedFacets({ token, counterparty }: HistoryFilter): readonly Facet[] | undefined {
  if (token === undefined) return counterparty === undefined ? undefined : [counterpartyFacet(counterparty)];
  return counterparty === undefined
    ? token.map(tokenFacet)
    : token.map((each) => bothFacet(each, counterparty));
}

/** Whether the row has what its facets promised, by whole addresses. */
export function hasWanted(row: SearchedRow, { token, counterparty, direction }: HistoryFilter): boolean {
  if (token === undefined && counterparty === undefined) return true;
  const bit = direction === undefined ? 0 : directionBits[direction];
  return contactsOf(row).some(
    (contact) =>
      (token === undefined || (contact.token !== null && token.includes(contact.token))) &&
      (counterparty === undefined || contact.account === counterparty) &&
      (contact.directions & bit) === bit,
  );
}
