import { zeroAddress } from '../../../../chain/address.ts';
import type { IndexedBlock, NftMovement, NftStandard } from '../../decode/domain.ts';

/** A change of the amount of one token that a wallet owns. */
export type NftAmountChange = {
  readonly wallet: string;
  readonly contract: string;
  readonly tokenId: bigint;
  readonly standard: NftStandard;
  readonly blockNumber: bigint;
  readonly logIndex: number;
  readonly part: number;
  /** 0 for a transfer to itself. */
  readonly delta: bigint;
  /** Whether the wallet received the token, from itself too. */
  readonly gained: boolean;
};

/** The changes of a block in the order of their logs. Transfers of zero are left out. */
export function nftChanges({ header, transactions }: IndexedBlock): NftAmountChange[] {
  return transactions.flatMap(({ nft }) =>
    nft.filter(({ amount }) => amount > 0n).flatMap((movement) => changesOf(movement, header.number)),
  );
}

function changesOf(movement: NftMovement, blockNumber: bigint): NftAmountChange[] {
  const { token: contract, tokenId, standard, logIndex, part, from, to, amount } = movement;
  const base = { contract, tokenId, standard, blockNumber, logIndex, part };
  if (from === to) return from === zeroAddress ? [] : [{ ...base, wallet: to, delta: 0n, gained: true }];
  const changes = [
    { ...base, wallet: from, delta: -amount, gained: false },
    { ...base, wallet: to, delta: amount, gained: true },
  ];
  return changes.filter(({ wallet }) => wallet !== zeroAddress);
}

/**
 * The sum of several changes of one wallet and token. For an ERC-721 only the last change counts, so a token that the
 * wallet owned before the start of the index is right too. Some contracts log one movement in both standards. Of such
 * a token only the ERC-1155 changes count.
 */
export type HoldingChange = Pick<NftAmountChange, 'wallet' | 'contract' | 'tokenId' | 'standard'> & {
  /** Added to the amount of an ERC-1155; the amount of an ERC-721. */
  readonly amount: bigint;
  readonly changedBlock: bigint;
  /**
   * What the wallet had before the first of the changes. It had an ERC-721 that it lost first. Undefined for an
   * ERC-1155.
   */
  readonly start: bigint | undefined;
  /** The last time that the wallet received some. */
  readonly acquired: { readonly blockNumber: bigint; readonly logIndex: number } | undefined;
};

/** @param changes in the order of the chain */
export function sumChanges(changes: readonly NftAmountChange[]): HoldingChange[] {
  const sums = new Map<string, HoldingChange>();
  for (const change of changes) {
    const { wallet, contract, tokenId, standard, blockNumber, logIndex, delta, gained } = change;
    const key = `${wallet}${contract}${tokenId}`;
    const before = sums.get(key);
    const known = before?.standard === 'ERC1155' ? before.amount : undefined;
    const single = standard === 'ERC721';
    sums.set(key, {
      wallet,
      contract,
      tokenId,
      standard: known === undefined ? standard : 'ERC1155',
      changedBlock: blockNumber,
      amount: single ? (known ?? (gained ? 1n : 0n)) : (known ?? 0n) + delta,
      start: single ? (before === undefined ? (gained ? 0n : 1n) : before.start) : undefined,
      acquired: gained ? { blockNumber, logIndex } : before?.acquired,
    });
  }
  return [...sums.values()];
}
