import type { MintChain } from '../support/minting.ts';
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
  ...(await dearAttempts(watched, since)),
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
/** What a worker may suppose where no node suggests a priority fee. */
const supposedTip = 2n * gwei;
/** Room above what the market asks, in percent. */
const room = 125n;

type AttemptRow = {
  readonly transaction_id: string;
  readonly number: number;
  readonly raw: Buffer;
  readonly max_fee_per_gas: string;
  readonly max_priority_fee_per_gas: string | null;
  readonly sent_at_block: string;
  readonly created_at: Date;
};

type Prices = { readonly fee: bigint; readonly tip: bigint };

/** Attempts that offer more than the market asked when they were signed, or than refusals of nodes allow. */
async function dearAttempts({ service, nodes, chain }: Watched, since: Date): Promise<string[]> {
  const rows: AttemptRow[] = await service
    .db('mint_attempts')
    .where('created_at', '>=', since)
    .orderBy(['created_at', 'number']);
  const baseFeeAt = async (block: bigint) => {
    const told = nodes.flatMap(({ market }) => [market.baseFee(block - 1n), market.baseFee(block)]);
    const onChain = await chain.call<{ baseFeePerGas?: string } | null>(
      'eth_getBlockByNumber',
      `0x${block.toString(16)}`,
      false,
    );
    return greatest([...told, BigInt(onChain?.baseFeePerGas ?? 0)]);
  };
  const answersTo = ({ raw }: AttemptRow) =>
    nodes.map(({ answers }) => answers.get(`0x${raw.toString('hex')}`) ?? []);
  const [network] = await service.db('networks');
  /** The tip that nodes take, as the operator, their words, or what they took after refusals have shown. */
  let leastTip = BigInt(network.min_tip);
  const found: string[] = [];
  const before = new Map<string, { readonly row: AttemptRow; readonly refusals: Refusals }>();
  for (const row of rows) {
    const last = before.get(row.transaction_id);
    // Each node is asked once with each look.
    const counts = answersTo(row).map((answers) => answers.filter((words) => words !== null).length);
    const words = answersTo(row).flatMap((answers) => answers.filter((each) => each !== null));
    const isTaken = answersTo(row).some((answers) => answers.includes(null));
    const looks = Math.max(0, ...counts);
    before.set(row.transaction_id, { row, refusals: { words, looks: (last?.refusals.looks ?? 0) + looks } });
    // An earlier attempt of an earlier sequence is not here to compare with.
    if (row.number > 1 && last === undefined) continue;
    const baseFee = await baseFeeAt(BigInt(row.sent_at_block));
    // The suggestion is asked for shortly before, and both clocks are this machine's.
    const tips = nodes.map(({ market }) => market.tip(row.created_at.getTime() + 100));
    const offered = pricesOf(row);
    const tip = greatest([...tips, leastTip]) || supposedTip;
    const wrong = dearness(offered, last && pricesOf(last.row), baseFee, tip, last?.refusals);
    if (wrong !== undefined) found.push(`attempt ${row.number} at block ${row.sent_at_block} ${wrong}`);
    const isNamed = last !== undefined && figuresOf(last.refusals).includes(offered.tip);
    const isRaised = last !== undefined && last.refusals.words.length > 0;
    if (wrong === undefined && (isNamed || (isRaised && isTaken)))
      leastTip = greatest([leastTip, offered.tip]);
  }
  return found;
}

/** What nodes have said to the attempts of a nonce. */
export type Refusals = {
  /** In how many looks they have refused it, whatever the attempt. */
  readonly looks: number;
  /** Of the last attempt. */
  readonly words: readonly string[];
};

const looksBeforeReplacing = 3;

/** The figures that nodes name; a tip may be any of them. */
const figuresOf = ({ words }: Refusals): bigint[] =>
  words.flatMap((each) => [...each.matchAll(/\d+/g)].map(([figure]) => BigInt(figure)));

const pricesOf = (row: AttemptRow): Prices => ({
  fee: BigInt(row.max_fee_per_gas),
  tip: BigInt(row.max_priority_fee_per_gas ?? row.max_fee_per_gas),
});

/**
 * A price may rise by an eighth while the market asks for more, or once nodes have refused the nonce in three looks; of a
 * refused attempt what is paid may double below 1 gwei. A tip that a node names may be offered at once.
 * @returns in what an attempt is too dear; undefined when it is not
 */
export function dearness(
  offered: Prices,
  before: Prices | undefined,
  baseFee: bigint,
  tip: bigint,
  refusals: Refusals = { looks: 0, words: [] },
): string | undefined {
  const inWords = `offers ${offered.fee} with a tip of ${offered.tip}, at a base fee of ${baseFee} and a tip of ${tip}`;
  const isHigher = before !== undefined && (offered.fee > before.fee || offered.tip > before.tip);
  // The next block may ask for an eighth more.
  const asksForMore = before === undefined || raised(baseFee) + tip > before.fee || tip > before.tip;
  const isNamed = figuresOf(refusals).includes(offered.tip);
  const isRefused = refusals.words.length > 0 && refusals.looks >= looksBeforeReplacing;
  if (isHigher && !asksForMore && !isRefused && !isNamed)
    return `${inWords}, though ${before.fee} was offered`;
  const rises = (last: bigint) => (isRefused && last < gwei ? greatest([2n * last, 1n]) : raised(last));
  const mostTip = greatest([(tip * room) / 100n, before && rises(before.tip), isNamed ? offered.tip : 0n]);
  if (offered.tip > mostTip) return inWords;
  // A replacement must raise both fees by an eighth, whichever of them was too low; the maximum leaves room for the tip.
  const asked = 2n * baseFee + (isRefused || isNamed ? greatest([tip, offered.tip]) : tip);
  const mostFee = greatest([(asked * room) / 100n, before && raised(before.fee)]);
  return offered.fee > mostFee ? inWords : undefined;
}

const raised = (fee: bigint) => fee + greatest([(fee + 7n) / 8n, 1n]);
const greatest = (numbers: readonly (bigint | undefined)[]): bigint =>
  numbers.reduce<bigint>((most, each) => (each !== undefined && each > most ? each : most), 0n);
