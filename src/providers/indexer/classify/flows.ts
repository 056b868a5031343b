import { zeroAddress } from '../../../chain/address.ts';
import type { StoredMoves } from './stored-moves.ts';

/** The asset that flowed; `token` is the contract. */
type Asset =
  | { readonly kind: 'native' }
  | { readonly kind: 'erc20'; readonly token: string }
  | { readonly kind: 'nft'; readonly token: string; readonly tokenId: bigint };

/** The net amount of one asset that a wallet lost or gained in one transaction. */
export type Flow = {
  readonly asset: Asset;
  readonly amount: bigint;
  /**
   * The recipient or sender. Of several the account that got or gave most counts, of equal accounts the first. The
   * zero address and the like count only where there is nobody else.
   */
  readonly other: string;
  /** The whole amount comes from the zero address. */
  readonly minted: boolean;
  /** The whole amount goes where nobody has the keys. */
  readonly burned: boolean;
};

export type Flows = { readonly outs: readonly Flow[]; readonly ins: readonly Flow[] };

type Movement = {
  readonly from: string;
  readonly to: string;
  readonly asset: Asset;
  readonly amount: bigint;
};

/**
 * Addresses whose keys nobody has. A transfer to such an address is a burn, a transfer from the zero address a mint.
 */
const nowhere = new Set([zeroAddress, '0x000000000000000000000000000000000000dead']);

export function isBurned({ burned }: Flow): boolean {
  return burned;
}

export function isMinted({ minted }: Flow): boolean {
  return minted;
}

export function isNft({ asset }: Flow): boolean {
  return asset.kind === 'nft';
}

/**
 * Returns the net flows of a wallet. Amounts that only passed through it cancel out, and a transfer to itself counts
 * as outgoing. Transfers of zero are listed only where there is nothing else. The fee of the transaction is no flow.
 */
export function flowsOf(moves: StoredMoves, wallet: string): Flows {
  const all = movementsOf(moves);
  const [first] = all;
  if (first === undefined) return noFlows;
  if (all.length === 1 && first.amount > 0n) return onlyFlow(first, wallet);
  const moving = all.filter(({ amount }) => amount > 0n);
  const groups = new Map<string, Movement[]>();
  for (const movement of moving) {
    const name = assetName(movement.asset);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [movement]);
    else group.push(movement);
  }
  const flows = [...groups.values()].map((group) => netFlow(group, wallet));
  const outs = flows.flatMap((flow) => (flow?.direction === 'out' ? [flow.flow] : []));
  const ins = flows.flatMap((flow) => (flow?.direction === 'in' ? [flow.flow] : []));
  if (moving.length > 0) return { outs, ins };
  return {
    outs: all.filter(({ from }) => from === wallet).map((movement) => emptyFlow(movement, movement.to)),
    ins: all.filter(({ from }) => from !== wallet).map((movement) => emptyFlow(movement, movement.from)),
  };
}

const noFlows: Flows = { outs: [], ins: [] };

// Most rows have one movement, and the index sorts every row that it writes. A sum took a third of that time.
function onlyFlow({ from, to, asset, amount }: Movement, wallet: string): Flows {
  const flow = { asset, amount, minted: false, burned: false };
  if (from !== wallet) return { outs: [], ins: [{ ...flow, other: from, minted: from === zeroAddress }] };
  return { outs: [{ ...flow, other: to, burned: to !== wallet && nowhere.has(to) }], ins: [] };
}

function emptyFlow({ asset }: Movement, other: string): Flow {
  return { asset, amount: 0n, other, minted: other === zeroAddress, burned: nowhere.has(other) };
}

/** All movements, without the fee of the transaction itself and movements that are only logged. */
function movementsOf({ native, erc20, nft }: StoredMoves): Movement[] {
  const all: Movement[] = [];
  for (const { from, to, token, tokenId, amount, verification } of nft) {
    if (verification !== 'forged') all.push({ from, to, amount, asset: { kind: 'nft', token, tokenId } });
  }
  for (const { from, to, token, value, kind, verification } of erc20) {
    if (kind === 'fee' || verification === 'forged') continue;
    all.push({ from, to, amount: value, asset: { kind: 'erc20', token } });
  }
  for (const { from, to, value } of native) all.push({ from, to, amount: value, asset: nativeAsset });
  return all;
}

const nativeAsset = { kind: 'native' } as const;

function assetName(asset: Asset): string {
  if (asset.kind === 'native') return 'native';
  return asset.kind === 'erc20' ? asset.token : `${asset.token} ${asset.tokenId}`;
}

function netFlow(group: readonly Movement[], wallet: string) {
  const net = group.reduce((sum, movement) => sum + changeOf(movement, wallet), 0n);
  if (net > 0n) return { direction: 'in', flow: toFlow(group, wallet, net) } as const;
  if (net < 0n) return { direction: 'out', flow: toFlow(group, wallet, net) } as const;
  const itself = group.find(({ from, to }) => from === to);
  if (itself === undefined) return undefined;
  const { asset, amount } = itself;
  return { direction: 'out', flow: { asset, amount, other: wallet, minted: false, burned: false } } as const;
}

function changeOf({ from, to, amount }: Movement, wallet: string): bigint {
  return (to === wallet ? amount : 0n) - (from === wallet ? amount : 0n);
}

/** Counterparties count by what they got or gave in the end. Change of a payment makes nobody a sender. */
function toFlow(group: readonly Movement[], wallet: string, net: bigint): Flow {
  const [first] = group;
  const sums = new Map<string, bigint>();
  for (const movement of group) {
    const other = movement.from === wallet ? movement.to : movement.from;
    if (other === wallet) continue;
    const change = changeOf(movement, wallet);
    sums.set(other, (sums.get(other) ?? 0n) + (net > 0n ? change : -change));
  }
  const took = [...sums].filter(([, amount]) => amount > 0n);
  // If the other part is a burned fee, the account that got the rest is the recipient.
  const somebody = took.filter(([other]) => !nowhere.has(other));
  const [largest] = (somebody.length > 0 ? somebody : took).reduce<readonly [string, bigint]>(
    (most, one) => (one[1] > most[1] ? one : most),
    ['', 0n],
  );
  return {
    asset: first?.asset ?? { kind: 'native' },
    amount: net > 0n ? net : -net,
    other: largest,
    minted: net > 0n && took.every(([other]) => other === zeroAddress),
    burned: net < 0n && took.every(([other]) => nowhere.has(other)),
  };
}
