import { isSettled } from '../../src/chain/minting/refusal.ts';
import type { MintChain } from '../support/minting.ts';
import { delegationRefusals } from '../support/node/limits.ts';
import { supposedTip } from '../support/node/market-record.ts';
import { broadcastOutages } from '../support/node/outages.ts';
import type { WatchedNode } from '../support/node/watched-node.ts';
import type { TestService } from '../support/service.ts';

// What holds after everything that goes wrong, beside `faults` of test/support/minting.ts. Each function returns what
// is wrong, in words.

type Watched = {
  readonly service: TestService;
  readonly chain: MintChain;
  readonly nodes: readonly WatchedNode[];
};

/** What is wrong with what was signed and asked since a time of the database's clock. */
export const judgeConduct = async (watched: Watched, since: Date): Promise<string[]> => [
  ...(await needlessRaises(watched, since)),
  ...questionStorms(watched),
];

/** Token ids with more than one mint, and rows that say what is not on the chain, whatever else is unfinished. */
export async function untruths({ service, chain }: Watched, ids: readonly string[]): Promise<string[]> {
  const mints = await chain.mints();
  const rows = await service.db('nfts').whereIn('id', [...ids]);
  const twice = [...mints].filter(([, found]) => found.length > 1);
  return [
    ...twice.map(([token, found]) => `token ${token} has ${found.length} mints`),
    ...rows.flatMap((row) => {
      const [mint] = mints.get(row.token_id) ?? [];
      const about = `NFT ${row.serial} (${row.mint_state})`;
      if (row.mint_state !== 'minted') {
        const isEmpty = row.minted_at === null && row.minted_tx === null && row.minted_block === null;
        return isEmpty ? [] : [`${about} has fields of a mint`];
      }
      const says = [row.recipient, row.minted_tx, row.minted_block].join(' ');
      const is = [mint?.to, mint?.hash, mint?.block].join(' ');
      return says === is ? [] : [`${about} says ${says}, the chain ${is}`];
    }),
  ];
}

/** Where an NFT is on its way; it stands still while this stays the same. */
export type Places = ReadonlyMap<string, string>;

/** The places of those NFTs that are on their way. */
export async function placesOf(
  { service }: Pick<Watched, 'service'>,
  ids: readonly string[],
): Promise<Places> {
  const rows = await service
    .db('nfts as n')
    .leftJoin('mint_transaction_nfts as l', (join) =>
      join.on('l.nft_id', 'n.id').andOnVal('l.state', '=', 'open'),
    )
    .leftJoin('mint_transactions as t', 't.id', 'l.transaction_id')
    .whereIn('n.id', [...ids])
    .whereIn('n.mint_state', ['queued', 'submitted'])
    .select('n.id', 'n.mint_state', 't.id as transaction', 't.state', 't.block_hash');
  return new Map(
    rows.map((row) => [row.id, [row.mint_state, row.transaction, row.state, row.block_hash].join(' ')]),
  );
}

export type Standing = {
  readonly silent: readonly string[];
  readonly reasons: readonly string[];
  /** How many are on their way, but not where they were. */
  readonly moving: number;
};

/**
 * The NFTs of these places that still are where they were: those without a reason of their own, their contract or their lane, and
 * the reasons of the others. What is queued may go into any lane, so it stands for a reason only when all lanes do.
 */
export async function standingSince(watched: Pick<Watched, 'service'>, before: Places): Promise<Standing> {
  const { db } = watched.service;
  const now = await placesOf(watched, [...before.keys()]);
  const still = [...now].filter(([id, place]) => before.get(id) === place).map(([id]) => id);
  const [rows, notes, lanes, contracts] = await Promise.all([
    db('nfts as n')
      .leftJoin('mint_transaction_nfts as l', (join) =>
        join.on('l.nft_id', 'n.id').andOnVal('l.state', '=', 'open'),
      )
      .leftJoin('mint_transactions as t', 't.id', 'l.transaction_id')
      .whereIn('n.id', still)
      .select('n.id', 'n.serial', 'n.mint_state', 'n.mint_contract', 't.signer'),
    db('mint_notes').whereIn('nft_id', still),
    db('mint_lanes'),
    db('mint_contracts'),
  ]);
  const ofContract = new Map<string, string | null>(contracts.map((row) => [row.contract, row.pause_reason]));
  const noteOf = new Map<string, string>(notes.map((note) => [note.nft_id, note.reason]));
  const pauseOf = new Map<string, string | null>(lanes.map((lane) => [lane.signer, lane.pause_reason]));
  const everyLane = lanes.every((lane) => lane.pause_reason !== null) ? lanes[0]?.pause_reason : null;
  type Row = { id: string; signer: string | null; mint_contract: string };
  const reasonOf = ({ id, signer, mint_contract: contract }: Row): string | undefined =>
    noteOf.get(id) ??
    (signer === null ? (everyLane ?? ofContract.get(contract)) : pauseOf.get(signer)) ??
    undefined;
  return {
    moving: now.size - still.length,
    silent: rows
      .filter((row) => reasonOf(row) === undefined)
      .map((row) => `NFT ${row.serial} (${row.mint_state}) stands without a reason`),
    reasons: [...new Set(rows.flatMap((row) => reasonOf(row) ?? []))],
  };
}

/**
 * The most questions of one lane to one node during a block; see {@link Questions} for how long one lasts. A lane that
 * fills its 16 places at once asks five things for each.
 */
const mostQuestions = 120;
/** Of them, those for logs, which cost a node the most. */
const mostLogQuestions = 12;

function questionStorms({ nodes, chain }: Pick<Watched, 'nodes' | 'chain'>): string[] {
  const lanes = chain.keys.length;
  return nodes.flatMap(({ questions }, index) => {
    const counts = questions.busiest();
    const [asked, logs] = [questions.mostPerBlock(), counts.get('eth_getLogs') ?? 0];
    if (asked <= mostQuestions * lanes && logs <= mostLogQuestions * lanes) return [];
    const inWords = [...counts].map(([method, count]) => `${count} ${method}`).join(', ');
    return [`node ${index + 1} was asked ${asked} times during a block: ${inWords}`];
  });
}

const gwei = 1_000_000_000n;

type AttemptRow = {
  readonly transaction_id: string;
  readonly number: number;
  readonly hash: string;
  readonly raw: Buffer;
  readonly max_fee_per_gas: string;
  readonly max_priority_fee_per_gas: string | null;
  readonly sent_at_block: string;
  readonly created_at: Date;
};

/** A nonce with its attempts, the first one first. */
type Signed = readonly [AttemptRow, ...AttemptRow[]];

/**
 * Attempts whose effective price is above 1.25 times the dearest market since the first attempt of their nonce, or above
 * four times that market once a node has refused an earlier one. It is judged when they are signed, and of a mined one in its
 * block. A tip that a node named or an operator set is part of the market.
 */
export async function dearPrices(watched: Watched, since: Date): Promise<string[]> {
  const market = createMarket(watched, BigInt((await watched.service.db('networks').first()).min_tip));
  const found = (await signedSince(watched, since)).map(async ([first, ...others]) => {
    const words: string[] = [];
    const dear: string[] = [];
    for (const row of [first, ...others]) {
      const mined = await minedAt(watched.chain, row.hash);
      const from = BigInt(first.sent_at_block) - 1n;
      // The suggestion is asked for shortly before, and both clocks are this machine's.
      const signed = await market.dearest(from, BigInt(row.sent_at_block), row.created_at.getTime() + 100);
      dear.push(...dearness(offerOf(row, signed.baseFee), signed.price, words));
      if (mined !== undefined) {
        const { price } = await market.dearest(from, mined.block, Date.now());
        dear.push(...dearness(mined.price, price, words));
      }
      words.push(...refusalsOf(watched.nodes, row));
    }
    return dear.map((text) => `an attempt at block ${first.sent_at_block} ${text}`);
  });
  return (await Promise.all(found)).flat();
}

/** In what a price is too dear, if it is, at this market and after these refusals. */
export function dearness(price: bigint, market: bigint, refusals: readonly string[]): string[] {
  const most = refusals.length > 0 ? greatest([4n * market, gwei]) : (market * 5n) / 4n;
  return price > most
    ? [`pays ${price} where the market asked ${market}, refused ${refusals.length} times`]
    : [];
}

/** Replacements that offer more than the attempt before, though the market asked no more and no node had refused it. */
async function needlessRaises(watched: Watched, since: Date): Promise<string[]> {
  const market = createMarket(watched, BigInt((await watched.service.db('networks').first()).min_tip));
  const found = (await signedSince(watched, since)).map(async (rows) => {
    const [first] = rows;
    const refused = rows.some((row) => refusalsOf(watched.nodes, row).length > 0);
    const raises: string[] = [];
    for (const [index, row] of rows.entries()) {
      const before = rows[index - 1];
      if (refused || before === undefined || isLegacy(row) !== isLegacy(before)) continue;
      if (tipOf(row) <= tipOf(before)) continue;
      const block = BigInt(row.sent_at_block);
      const { baseFee, tip } = await market.dearest(
        BigInt(first.sent_at_block),
        block,
        row.created_at.getTime() + 100,
      );
      if (baseFee + tip <= BigInt(before.max_fee_per_gas) && tip <= tipOf(before))
        raises.push(`attempt ${row.number} at block ${block} raised a price that was enough`);
    }
    return raises;
  });
  return (await Promise.all(found)).flat();
}

/** Attempts since a time, by nonce. One of an earlier sequence has no first attempt here, and is left out. */
async function signedSince({ service }: Watched, since: Date): Promise<Signed[]> {
  const rows: AttemptRow[] = await service
    .db('mint_attempts')
    .where('created_at', '>=', since)
    .orderBy(['transaction_id', 'number']);
  const byNonce = Map.groupBy(rows, (row) => row.transaction_id);
  return [...byNonce.values()].flatMap(([first, ...others]) =>
    first?.number === 1 ? [[first, ...others] as const] : [],
  );
}

/** What nodes have said against an attempt; not that they have it, that its nonce is used, or what is about no price. */
const refusalsOf = (nodes: Watched['nodes'], { raw }: AttemptRow): string[] =>
  answersTo(nodes, raw).filter((words) => !isSettled(words) && !priceless.has(words));

// They may raise a price after ten minutes, which is longer than a sequence.
const priceless: ReadonlySet<string> = new Set([
  ...broadcastOutages.map(({ words }) => words),
  ...delegationRefusals,
]);

const answersTo = (nodes: Watched['nodes'], raw: Buffer): string[] =>
  nodes.flatMap(({ answers }) =>
    (answers.get(`0x${raw.toString('hex')}`) ?? []).flatMap((words) => words ?? []),
  );

const isLegacy = (row: AttemptRow) => row.max_priority_fee_per_gas === null;
const tipOf = (row: AttemptRow) => BigInt(row.max_priority_fee_per_gas ?? row.max_fee_per_gas);

/** What an attempt pays for a unit of gas in a block with this base fee. */
function offerOf(row: AttemptRow, baseFee: bigint): bigint {
  const most = BigInt(row.max_fee_per_gas);
  if (isLegacy(row)) return most;
  const wanted = baseFee + tipOf(row);
  return wanted < most ? wanted : most;
}

async function minedAt(chain: MintChain, hash: string) {
  type Receipt = { blockNumber: string; effectiveGasPrice: string };
  const receipt = await chain.call<Receipt | null>('eth_getTransactionReceipt', hash);
  return receipt
    ? { block: BigInt(receipt.blockNumber), price: BigInt(receipt.effectiveGasPrice) }
    : undefined;
}

/** The market as nodes and the chain have shown it, with the least tip that the operator or a node has named. */
function createMarket({ nodes, chain }: Watched, minTip: bigint) {
  const known = new Map<bigint, Promise<bigint>>();
  const baseFeeAt = async (block: bigint) => {
    type Block = { baseFeePerGas?: string } | null;
    const onChain = await chain.call<Block>('eth_getBlockByNumber', `0x${block.toString(16)}`, false);
    return greatest([
      ...nodes.map(({ market }) => market.baseFee(block)),
      BigInt(onChain?.baseFeePerGas ?? 0),
    ]);
  };
  const named = nodes.flatMap(({ answers }) => [...answers.values()].flat()).flatMap(figuresOf);
  return {
    /** The highest base fee and tip of these blocks, and of what was suggested until a time. */
    async dearest(since: bigint, to: bigint, until: number) {
      const baseFees: Promise<bigint>[] = [];
      // After a reorganisation blocks have lower numbers.
      for (let block = since < to ? since : to - 1n; block <= to; block += 1n) {
        const fee = known.get(block) ?? baseFeeAt(block);
        known.set(block, fee);
        baseFees.push(fee);
      }
      const baseFee = greatest(await Promise.all(baseFees));
      const suggested = nodes.flatMap(({ market }) => market.tip(until) ?? []);
      const tip = greatest([...(suggested.length > 0 ? suggested : [supposedTip]), minTip, ...named]);
      return { baseFee, tip, price: baseFee + tip };
    },
  };
}

/** The figures in a node's words, unless they are about money; a tip may be any of them. */
const figuresOf = (words: string | null): bigint[] =>
  words === null || /funds|balance|ether/.test(words)
    ? []
    : [...words.matchAll(/\d+/g)].map(([figure]) => BigInt(figure));

const greatest = (numbers: readonly (bigint | undefined)[]): bigint =>
  numbers.reduce<bigint>((most, each) => (each !== undefined && each > most ? each : most), 0n);
