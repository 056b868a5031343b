import { randomUUID } from 'node:crypto';
import { wallet as hostedWallet } from '../../test/support/moralis-payloads.ts';
import { chainId } from '../bench/mint/bench-chain.ts';
import type { Wanted } from './caller.ts';
import type { Ledger } from './ledger.ts';
import type { Company } from './world.ts';

type Operation = { readonly weight: number; readonly make: (company: Company) => Wanted };

const get = (kind: string, path: string): Wanted => ({ kind, method: 'GET', path });
const post = (kind: string, path: string, body: object): Wanted => ({
  kind,
  method: 'POST',
  path,
  body,
  headers: { 'idempotency-key': randomUUID() },
});

/**
 * The work of two companies on a day: reads, lists, writes and mints, in a fixed mixture. Each company asks for each
 * kind at even distances, not by chance. So a fault of a few seconds meets the rarest kind as well.
 */
export function createMix(ledger: Ledger): (company: Company) => Wanted {
  const operations = [...reads, ...writesInto(ledger)];
  const turns = new Map<Company, () => Operation>();
  return (company) => {
    const turn = turns.get(company) ?? takeTurns(operations);
    turns.set(company, turn);
    return turn().make(company);
  };
}

/** Smooth weighted round robin: the kind that has waited for most of its share is next. */
function takeTurns(operations: readonly Operation[]): () => Operation {
  const total = operations.reduce((sum, { weight }) => sum + weight, 0);
  const waiting = operations.map((operation) => ({ operation, due: 0 }));
  return () => {
    for (const each of waiting) each.due += each.operation.weight;
    const next = waiting.reduce((first, each) => (each.due > first.due ? each : first));
    next.due -= total;
    return next.operation;
  };
}

const reads: readonly Operation[] = [
  { weight: 8, make: () => get('list events', '/events/v1/api/event?limit=20') },
  { weight: 10, make: ({ events }) => get('get event', `/events/v1/api/event/${anyOf(events)}`) },
  { weight: 6, make: () => get('list assets', '/v1/api/rwa') },
  { weight: 6, make: ({ rwas }) => get('list NFTs', `/v1/api/rwa/${anyOf(rwas)}/nfts?limit=20`) },
  { weight: 6, make: ({ wallets }) => get('balance', ofWallet('token/balance', chainId, anyOf(wallets))) },
  {
    weight: 8,
    make: ({ wallets }) => get('history', ofWallet('wallet/history', chainId, anyOf(wallets), 10)),
  },
  { weight: 4, make: ({ wallets }) => get('NFTs of a wallet', ofWallet('nft', chainId, anyOf(wallets), 10)) },
  { weight: 2, make: () => get('hosted history', ofWallet('wallet/history', '1', hostedWallet, 10)) },
  { weight: 4, make: () => get('health', '/healthz') },
];

function writesInto(ledger: Ledger): Operation[] {
  return [
    { weight: 5, make: (company) => createEvent(company, ledger) },
    { weight: 8, make: (company) => addAttendee(company, ledger) },
    { weight: 1.5, make: (company) => createAndMint(company, ledger) },
    { weight: 1, make: (company) => mintNft(company, ledger) ?? createAndMint(company, ledger) },
  ];
}

function createEvent({ id: company }: Company, ledger: Ledger): Wanted {
  return {
    ...post('create event', '/events/v1/api/event', { name: 'Spring fair', location: 'Long barn, Ely' }),
    onAccepted: (body) => ledger.accept({ kind: 'event', company, id: idOf(body, 'id') }),
  };
}

function addAttendee({ id: company, events }: Company, ledger: Ledger): Wanted {
  const event = anyOf(events);
  const attendeeId = `user-${randomUUID()}`;
  return {
    ...post('add attendee', `/events/v1/api/event/${event}/attendees`, { attendeeId }),
    onAccepted: () => ledger.accept({ kind: 'attendee', company, id: `${event} ${attendeeId}` }),
  };
}

function createAndMint({ id: company, rwas, wallets }: Company, ledger: Ledger): Wanted {
  return {
    ...post('create and mint', `/v1/api/rwa/${anyOf(rwas)}/mint`, { recipient: anyOf(wallets) }),
    onAccepted: (body) => ledger.accept({ kind: 'mint', company, id: idOf(body, 'nftId') }),
  };
}

/** @returns undefined when all NFTs of the company are taken */
function mintNft({ id: company, unclaimed, wallets }: Company, ledger: Ledger): Wanted | undefined {
  const nft = unclaimed.pop();
  if (nft === undefined) return undefined;
  return {
    ...post('mint NFT', `/v1/api/nft/${nft.id}/mint`, { secret: nft.secret, recipient: anyOf(wallets) }),
    onAccepted: () => ledger.accept({ kind: 'mint', company, id: nft.id }),
  };
}

function ofWallet(path: string, chain: string, address: string, limit?: number): string {
  const page = limit === undefined ? '' : `&limit=${limit}`;
  return `/blockchain/v1/api/${path}?chainId=${chain}&address=${address}${page}`;
}

function anyOf(values: readonly string[]): string {
  return values[Math.floor(Math.random() * values.length)] ?? '';
}

function idOf(body: string, name: string): string {
  const found: unknown = JSON.parse(body)[name];
  if (typeof found !== 'string') throw new Error(`An answer without ${name}: ${body.slice(0, 200)}`);
  return found;
}
