import { problem } from '../../../base/errors.ts';
import type { ApprovalPlace } from './approval-page-store.ts';
import type { HistoryPlace } from './history-page-store.ts';
import type { HoldingPlace } from './holding-queries.ts';

/** Encodes where a page of a history ended: a place in the chain, valid in every branch. */
export function writeHistoryPlace({ blockNumber, index }: HistoryPlace): string {
  return `${blockNumber}.${index}`;
}

/** @throws problem `cursor_invalid` */
export function readHistoryPlace(position: string): HistoryPlace {
  const [, block, index] = /^(\d{1,18})\.(\d{1,9})$/.exec(position) ?? [];
  if (block === undefined || index === undefined) throw problem('cursor_invalid');
  return { blockNumber: BigInt(block), index: Number(index) };
}

/** Encodes where a page of an NFT list ended, and the block of the list. */
export type HoldingPosition = { readonly asOf: bigint; readonly after: HoldingPlace };

export function writeHoldingPosition({ asOf, after }: HoldingPosition): string {
  const { acquired, contract, tokenId } = after;
  return [asOf, acquired.blockNumber, acquired.logIndex, contract, tokenId].join('.');
}

/** @throws problem `cursor_invalid` */
export function readHoldingPosition(position: string): HoldingPosition {
  const form = /^(\d{1,18})\.(\d{1,18})\.(\d{1,9})\.(0x[0-9a-f]{40})\.(\d{1,78})$/;
  const [, asOf, block, log, contract, tokenId] = form.exec(position) ?? [];
  if (asOf === undefined || block === undefined || contract === undefined || tokenId === undefined) {
    throw problem('cursor_invalid');
  }
  return {
    asOf: BigInt(asOf),
    after: {
      contract,
      tokenId: BigInt(tokenId),
      acquired: { blockNumber: BigInt(block), logIndex: Number(log) },
    },
  };
}

/** Decodes where a page of tokens ended: the facet of its last token. @throws problem `cursor_invalid` */
export function readTokenPlace(position: string): string {
  if (!/^02[0-9a-f]{20}$/.test(position)) throw problem('cursor_invalid');
  return position;
}

/** Encodes where a page of approvals ended. */
export function writeApprovalPlace({ contract, kind, tokenId, party }: ApprovalPlace): string {
  return [contract, kind, tokenId, party].join('.');
}

/** @throws problem `cursor_invalid` */
export function readApprovalPlace(position: string): ApprovalPlace {
  const form = /^(0x[0-9a-f]{40})\.(amount|token|all)\.(\d{1,78})\.(0x(?:[0-9a-f]{40})?)$/;
  const [, contract, kind, tokenId, party] = form.exec(position) ?? [];
  if (contract === undefined || tokenId === undefined || party === undefined) throw problem('cursor_invalid');
  // One of the three by the form.
  return { contract, kind: kind as ApprovalPlace['kind'], tokenId: BigInt(tokenId), party };
}
