import { type NftMovement, zeroAddress } from '../domain.ts';
import type { StoredMoves } from '../store/stored-moves.ts';

/** The asset that flowed; `token` is the contract. */
type Asset =
  | { readonly kind: 'native' }
  | { readonly kind: 'erc20'; readonly token: string }
  | { readonly kind: 'nft'; readonly token: string; readonly tokenId: bigint };

/** The net amount of one asset that a wallet lost or gained in one transaction. */
export type Flow = {
  readonly asset: Asset;
  readonly amount: bigint;
  /** The recipient or sender; the first one where there are several. */
  readonly other: string;
};

export type Flows = { readonly outs: readonly Flow[]; readonly ins: readonly Flow[] };

type Movement = {
  readonly from: string;
  readonly to: string;
  readonly asset: Asset;
  readonly amount: bigint;
};

/** Nobody has the keys of these: a transfer to them is a burn, a transfer from the zero address a mint. */
const nowhere = new Set([zeroAddress, '0x000000000000000000000000000000000000dead']);

export function isBurned({ other }: Flow): boolean {
  return nowhere.has(other);
}

export function isMinted({ other }: Flow): boolean {
  return other === zeroAddress;
}

export function isNft({ asset }: Flow): boolean {
  return asset.kind === 'nft';
}

/**
 * The net flows of a wallet. Amounts that merely passed through it cancel out; a transfer to itself counts as
 * outgoing; transfers of zero are listed only where there is nothing else.
 */
export function flowsOf(moves: StoredMoves, wallet: string): Flows {
  const movements = movementsOf(moves);
  const groups = new Map<string, Movement[]>();
  for (const movement of movements) {
    const name = assetName(movement.asset);
    groups.set(name, [...(groups.get(name) ?? []), movement]);
  }
  const flows = [...groups.values()].map((group) => netFlow(group, wallet));
  const outs = flows.flatMap((flow) => (flow?.direction === 'out' ? [flow.flow] : []));
  const ins = flows.flatMap((flow) => (flow?.direction === 'in' ? [flow.flow] : []));
  const nothing = movements.length > 0 && movements.every(({ amount }) => amount === 0n);
  if (!nothing) return { outs, ins };
  const empty = movements.map((movement) => ({ movement, out: movement.from === wallet }));
  return {
    outs: empty.filter(({ out }) => out).map(({ movement }) => toFlow(movement, movement.to, 0n)),
    ins: empty.filter(({ out }) => !out).map(({ movement }) => toFlow(movement, movement.from, 0n)),
  };
}

function movementsOf({ native, erc20, nft }: StoredMoves): Movement[] {
  return [
    ...nft.map(({ from, to, token, tokenId, amount }: NftMovement) => ({
      from,
      to,
      amount,
      asset: { kind: 'nft', token, tokenId } as const,
    })),
    ...erc20.map(({ from, to, token, value }) => ({
      from,
      to,
      amount: value,
      asset: { kind: 'erc20', token } as const,
    })),
    ...native.map(({ from, to, value }) => ({ from, to, amount: value, asset: { kind: 'native' } as const })),
  ];
}

function assetName(asset: Asset): string {
  if (asset.kind === 'native') return 'native';
  return asset.kind === 'erc20' ? asset.token : `${asset.token} ${asset.tokenId}`;
}

function netFlow(group: readonly Movement[], wallet: string) {
  const got = group.filter(({ to }) => to === wallet);
  const lost = group.filter(({ from }) => from === wallet);
  const net = total(got) - total(lost);
  const [first] = net > 0n ? got.filter(({ from }) => from !== wallet) : lost;
  if (first === undefined) return undefined;
  if (net > 0n) return { direction: 'in', flow: toFlow(first, first.from, net) } as const;
  if (net < 0n) {
    const away = lost.find(({ to }) => to !== wallet) ?? first;
    return { direction: 'out', flow: toFlow(away, away.to, -net) } as const;
  }
  const itself = lost.find(({ to }) => to === wallet);
  return itself && ({ direction: 'out', flow: toFlow(itself, wallet, itself.amount) } as const);
}

function total(movements: readonly Movement[]): bigint {
  return movements.reduce((sum, { amount }) => sum + amount, 0n);
}

function toFlow({ asset }: Movement, other: string, amount: bigint): Flow {
  return { asset, amount, other };
}
