import type { HistoryFilter } from '../../shared/provider.ts';
import { directionBits, withDirections } from './kinds.ts';
import type { StoredMoves, StoredTransaction } from './stored-moves.ts';

/** The part of a row that searches read: one transaction as its wallet sees it. */
export type SearchedRow = {
  readonly wallet: string;
  readonly transaction: Pick<StoredTransaction, 'from' | 'to' | 'created'>;
  readonly moves: Pick<StoredMoves, 'native' | 'erc20' | 'nft' | 'approvals'>;
};

/**
 * What a search can find in a row: a token, a counterparty, or both of one transfer, as PostgreSQL's hex of bytes.
 * Only the first bytes of an address are kept. A row is compared with the whole addresses before it is shown.
 */
type Facet = string;

export const tokenFacet = (token: string): Facet => `\\x02${token.slice(2, 22)}`;
const counterpartyFacet = (account: string): Facet => `\\x01${account.slice(2, 22)}`;
const bothFacet = (token: string, account: string): Facet =>
  `\\x03${token.slice(2, 18)}${account.slice(2, 18)}`;

/** Takes a token, a counterparty, or both, and the directions of the transfer: a sum of bits. */
type Contact = (token: string | null, account: string | null, directions: number) => void;

/** Passes on everything in the row that a search by token or counterparty may mean. */
function forEachContact({ wallet, transaction, moves }: SearchedRow, tell: Contact): void {
  const transfer = (token: string | null, from: string, to: string) => {
    if (from === wallet) tell(token, to, directionBits.send);
    else tell(token, from, directionBits.receive);
  };
  const { from, to, created } = transaction;
  if (from === wallet) tell(null, to ?? created, 0);
  else if (to === wallet || created === wallet) tell(null, from, 0);
  for (const move of moves.native) transfer(null, move.from, move.to);
  for (const move of moves.erc20) transfer(move.token, move.from, move.to);
  for (const move of moves.nft) transfer(move.token, move.from, move.to);
  for (const { token, spender } of moves.approvals) tell(token, spender, 0);
}

/** In which directions the row transfers anything: a sum of bits. */
export function directionsOf({ wallet, moves }: SearchedRow): number {
  let bits = 0;
  for (const list of [moves.native, moves.erc20, moves.nft]) {
    for (const { from } of list) bits |= from === wallet ? directionBits.send : directionBits.receive;
  }
  return bits;
}

/** Every facet of the row, with the row's kind and the directions of the facet's own transfers. */
export function facetsOf(row: SearchedRow, kind: number): ReadonlyMap<Facet, number> {
  const facets = new Map<Facet, number>();
  const none = withDirections(kind, 0);
  const add = (facet: Facet, directions: number) =>
    facets.set(facet, (facets.get(facet) ?? none) | directions);
  forEachContact(row, (token, account, directions) => {
    if (token !== null) add(tokenFacet(token), directions);
    if (account !== null) add(counterpartyFacet(account), directions);
    if (token !== null && account !== null) add(bothFacet(token, account), directions);
  });
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
  let isWanted = false;
  forEachContact(row, (of, account, directions) => {
    isWanted ||=
      (token === undefined || (of !== null && token.includes(of))) &&
      (counterparty === undefined || account === counterparty) &&
      (directions & bit) === bit;
  });
  return isWanted;
}
