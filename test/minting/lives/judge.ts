import { ZeroAddress } from 'ethers';
import { tokenRangeOf } from '../../../src/rwa/assets/token-id.ts';
import { listMints } from '../../../src/rwa/operators/remedies/mint-admin-store.ts';
import { dearness } from '../invariants.ts';
import type { Mined } from './chain.ts';
import { admin } from './constants.ts';
import { judgeOwners } from './judge-owners.ts';
import { type Broadcast, nonceOf, tokensOf } from './signatures.ts';
import { usualTip } from './view.ts';
import type { World } from './world.ts';

// A lane without a worker shows after two minutes, and what stands still after one.
const silentMs = 240_000;

/* What holds after every life. Each function returns what is wrong, in words. */

export async function judge(world: World): Promise<string[]> {
  return [
    ...(await rowsAndChain(world)),
    ...world.trespasses.found,
    ...signatures(world),
    ...skipped(world),
    ...(await unstored(world)),
    ...sentTwice(world),
    ...prices(world),
    ...waste(world),
    ...(await judgeOwners(world)),
    ...(await news(world)),
    ...reports(world),
    ...(await leftovers(world)),
  ];
}

/** Whether rows or blocks have gone that somebody took for final. */
const isHistoryLost = ({ hasRestored, hasRolledBack }: World['state']) => hasRestored || hasRolledBack;

type Row = {
  readonly id: string;
  readonly rwa_number: string;
  readonly serial: string;
  readonly token_id: string;
  readonly mint_state: string;
  readonly mint_error: string | null;
  readonly recipient: string | null;
  readonly minted_at: Date | null;
  readonly minted_tx: string | null;
  readonly minted_block: string | null;
};

const listRows = ({ db }: World): Promise<Row[]> => db('nfts').orderBy(['rwa_number', 'serial']);
const rowName = ({ rwa_number: rwa, serial, mint_state: state }: Row) => `NFT ${rwa}/${serial} (${state})`;

type MintOnChain = {
  readonly from: string;
  readonly to: string;
  readonly hash: string;
  readonly block: string;
};

/** Mints on the chain by token id. */
function mintsOf({ chain }: World): Map<string, MintOnChain[]> {
  const found = new Map<string, MintOnChain[]>();
  for (const block of chain.blocks) {
    for (const { sent, logs } of block.mined) {
      for (const { topics } of logs) {
        const [, from, to, token] = topics;
        if (topics.length !== 4 || addressIn(from) !== ZeroAddress || token === undefined) continue;
        const id = BigInt(token).toString();
        const mint = { from: sent.from, to: addressIn(to), hash: sent.hash, block: String(block.number) };
        found.set(id, [...(found.get(id) ?? []), mint]);
      }
    }
  }
  return found;
}

const addressIn = (topic: string | undefined) => `0x${topic?.slice(-40) ?? ''}`;

/** One mint at most of each NFT that was accepted; exactly one unless it failed or was cancelled; rows that equal the chain. */
async function rowsAndChain(world: World): Promise<string[]> {
  const mints = mintsOf(world);
  const rows = await listRows(world);
  const known = new Set(rows.map(({ id }) => id));
  // An audit tells operators what somebody else mints when nobody asks for it any more, once it has read that block.
  const told: string[] = await world.db('mint_disagreements').pluck('token_id');
  const [contract] = await world.db('mint_contracts').select('compared_to');
  const isUnread = (block: string) =>
    world.state.isLedgerDeceived || Number(block) > Number(contract?.compared_to ?? -1);
  const isTold = (token: string, { from, block }: MintOnChain) =>
    from === admin && (told.includes(token) || isUnread(block));
  const lost = [...world.accepted].filter((id) => !known.has(id));
  const untold = rows.filter(({ id }) => !world.accepted.has(id) && !world.issued.has(id));
  const found = rows.flatMap((row) => {
    const onChain = mints.get(row.token_id) ?? [];
    const about = rowName(row);
    if (onChain.length > 1) return [`${about} has ${onChain.length} mints`];
    const [mint] = onChain;
    if (row.mint_state === 'minted') {
      const says = [row.recipient?.toLowerCase(), row.minted_tx, row.minted_block].join(' ');
      const is = [mint?.to, mint?.hash, mint?.block].join(' ');
      return says === is && row.minted_at !== null ? [] : [`${about} says ${says}, the chain ${is}`];
    }
    if (row.minted_at !== null || row.minted_tx !== null || row.minted_block !== null)
      return [`${about} has fields of a mint`];
    if (row.mint_state === 'failed')
      return mint !== undefined && mint.to === row.recipient?.toLowerCase()
        ? [`${about} failed (${row.mint_error}), though its recipient got it`]
        : [];
    if (row.mint_state === 'unclaimed')
      return mint === undefined || isTold(row.token_id, mint) ? [] : [`${about} has a mint on the chain`];
    return [`${about} is neither minted nor failed`];
  });
  const counts = await world.db('rwas').select('number', 'claimed_nfts').orderBy('number');
  const wrong = counts.filter(
    ({ number, claimed_nfts: count }) =>
      Number(count) !== rows.filter((row) => row.rwa_number === number && row.mint_state === 'minted').length,
  );
  return [
    ...found,
    ...(world.state.hasRestored ? [] : lost.map(() => 'an accepted NFT has no row')),
    // After a restored backup, a recovery makes the rows of lost NFTs again.
    ...(world.state.hasRestored ? [] : untold.map((row) => `nobody was told of ${rowName(row)}`)),
    ...wrong.map(({ number, claimed_nfts: count }) => `RWA ${number} counts ${count} minted NFTs`),
  ];
}

/** Signatures for one nonce of which two could mint what the first does not, and tokens in two nonces that could both mint. */
function signatures({ signatures: { all }, state }: World): string[] {
  if (isHistoryLost(state)) return [];
  const found: string[] = [];
  const firstOf = new Map<string, Broadcast>();
  const lastOf = new Map<string, Broadcast>();
  for (const sent of all.values()) {
    const first = firstOf.get(nonceOf(sent)) ?? sent;
    firstOf.set(nonceOf(sent), first);
    if (sent.tokens.some((token) => !first.tokens.includes(token)))
      found.push(`nonce ${sent.nonce} has a signature for a token that its first has not`);
    for (const token of sent.tokens) {
      const before = lastOf.get(token);
      const isOther = before !== undefined && (before.nonce !== sent.nonce || before.from !== sent.from);
      const isUsed = before !== undefined && (sent.finalNonces.get(before.from) ?? 0) > before.nonce;
      if (isOther && !isUsed)
        found.push(`token ${token} is in nonces ${before.nonce} and ${sent.nonce}, which could both mint`);
      if (before === undefined || isOther) lastOf.set(token, sent);
    }
  }
  return [...new Set(found)];
}

/** Mints whose nonce is above one that nobody has used for good and that we have not signed: it may stay free. */
function skipped({ signatures: { all }, state }: World): string[] {
  if (isHistoryLost(state)) return [];
  const signed = new Set([...all.values()].map(nonceOf));
  return [...all.values()].flatMap(({ from, nonce, tokens, finalNonces }) => {
    const final = finalNonces.get(from) ?? 0;
    const between = Array.from({ length: Math.max(0, nonce - final) }, (_, index) => final + index);
    const free = between.find((each) => !signed.has(nonceOf({ from, nonce: each })));
    return free === undefined || tokens.length === 0
      ? []
      : [`nonce ${nonce} is above ${free}, which may stay free`];
  });
}

/** What was broadcast and is not stored: after a crash nobody knows of it. */
async function unstored({ db, signatures: { all }, state }: World): Promise<string[]> {
  if (state.hasRestored) return [];
  const stored = new Set(await db('mint_attempts').pluck('hash'));
  return [...all.values()].flatMap(({ hash, nonce }) =>
    stored.has(hash) ? [] : [`a signature for nonce ${nonce} was broadcast and is not stored`],
  );
}

const isOurs = ({ signers }: World, { sent }: Mined) =>
  signers.some((each) => each.toLowerCase() === sent.from);

/** Tokens that two transactions of ours were to mint which both ran: only the contract has kept the second from it. */
function sentTwice(world: World): string[] {
  if (isHistoryLost(world.state)) return [];
  const seen = new Map<string, number>();
  const mined = world.chain.blocks.flatMap((block) => block.mined);
  for (const each of mined) {
    if (!each.isSuccess || !isOurs(world, each)) continue;
    for (const token of tokensOf(each.sent)) seen.set(token, (seen.get(token) ?? 0) + 1);
  }
  return [...seen].flatMap(([token, count]) =>
    count > 1 ? [`token ${token} ran in ${count} transactions`] : [],
  );
}

/**
 * Offers above 1.25 times the dearest market since the nonce was first signed, or above four times where a node rejects it; and
 * replacements that offer more for the same tokens, though the market asked no more and no node had rejected the nonce.
 */
function prices({ chain, signatures: signed }: World): string[] {
  const firstOf = new Map<string, Broadcast>();
  const lastOf = new Map<string, Broadcast>();
  return [...signed.all.values()].flatMap((sent) => {
    const key = nonceOf(sent);
    const [first, last] = [firstOf.get(key) ?? sent, lastOf.get(key)];
    firstOf.set(key, first);
    lastOf.set(key, sent);
    // A worker knows the fee of the newest block.
    const fees = chain.fees.slice(Math.max(0, first.feesSeen - 2), sent.feesSeen + 1);
    const market = fees.reduce((most, fee) => (fee > most ? fee : most), 0n) + usualTip;
    const offer = sent.baseFee + sent.tip < sent.maxFee ? sent.baseFee + sent.tip : sent.maxFee;
    const refusals = signed.refusalsOf(sent);
    const dear = dearness(offer, market, refusals).map((text) => `nonce ${sent.nonce} ${text}`);
    const isRaise = last !== undefined && sent.tip > last.tip && sent.tokens.length === last.tokens.length;
    const isNeedless = isRaise && refusals.length === 0 && market <= last.maxFee && usualTip <= last.tip;
    return isNeedless ? [...dear, `nonce ${sent.nonce} raised a price that was enough`] : dear;
  });
}

/** More reverted mints than five in a row, those in flight then, two in two hours, and those that somebody has asked for. */
function waste(world: World): string[] {
  const most = 5 + 4 * world.signers.length + 2 + world.state.probes;
  const reverted = world.chain.blocks
    .flatMap(({ mined }) => mined)
    .filter((each) => !each.isSuccess && isOurs(world, each) && tokensOf(each.sent).length > 0);
  return reverted.length > most ? [`${reverted.length} mints were reverted`] : [];
}

/** News that tell another story than the rows. */
async function news(world: World): Promise<string[]> {
  if (isHistoryLost(world.state)) return [];
  const told = await world.db('news').orderBy(['seq']);
  const unnumbered = told.filter(({ position }) => position === null).length;
  const found = unnumbered > 0 ? [`${unnumbered} news have no number`] : [];
  for (const row of await listRows(world)) {
    const ofRow = told.filter(({ subject }) => subject === row.id);
    const states = ofRow.filter(({ type }) =>
      /^nft\.(queued|submitted|minted|failed|cancelled|reverted)$/.test(type),
    );
    const corrected = new Set(ofRow.flatMap(({ data }) => data.corrects ?? []));
    const minted = ofRow.filter(({ type, id }) => type === 'nft.minted' && !corrected.has(id)).length;
    if (minted !== (row.mint_state === 'minted' ? 1 : 0))
      found.push(`${rowName(row)} has ${minted} news of its mint that stand`);
    const last = states.at(-1)?.data.state;
    if (last !== undefined && last !== row.mint_state)
      found.push(`the last news of ${rowName(row)} say ${last}`);
    const transfers = ofRow.filter(({ type, id }) => type === 'nft.transferred' && !corrected.has(id));
    const onChain = transfersOf(world, row.token_id);
    if (row.mint_state === 'minted' && transfers.length !== onChain && !world.state.isLedgerDeceived)
      found.push(`${rowName(row)} has ${transfers.length} news of transfers, the chain ${onChain}`);
  }
  return found;
}

/** Transfers of a token, but for its mint. */
const transfersOf = ({ chain }: World, token: string): number =>
  chain.blocks
    .flatMap(({ mined }) => mined.flatMap(({ logs }) => logs))
    .filter(
      ({ topics: [, from, , id] }) => addressIn(from) !== ZeroAddress && id && BigInt(id) === BigInt(token),
    ).length;

/** RWAs whose metadata have changed, and that no event on the chain tells marketplaces about. */
function reports({ chain, state }: World): string[] {
  if (isHistoryLost(state)) return [];
  return [...state.changes].flatMap(([number, since]) => {
    const { from, to } = tokenRangeOf(BigInt(number));
    const data = `0x${[from, to].map((id) => BigInt(id).toString(16).padStart(64, '0')).join('')}`;
    const later = chain.blocks.slice(since + 1).flatMap(({ mined }) => mined);
    const isTold = later.some(({ logs }) => logs.some((log) => log.data === data));
    return isTold ? [] : [`nobody tells marketplaces that the metadata of RWA ${number} have changed`];
  });
}

/** What has not come to its end. */
async function leftovers({ db }: World): Promise<string[]> {
  const open = await db('mint_transactions')
    .whereIn('state', ['submitted', 'confirmed'])
    .orderBy(['signer', 'nonce']);
  const links = await db('mint_transaction_nfts').where({ state: 'open' });
  const due = await db('rwas').whereNotNull('metadata_changed_at');
  const pauses: string[] = await db('mint_lanes').whereNotNull('pause_reason').pluck('pause_reason');
  return [
    ...open.map(({ nonce, state }) => `nonce ${nonce} stays ${state}`),
    ...(links.length > 0 && open.length === 0
      ? [`${links.length} NFTs stay in transactions that have ended`]
      : []),
    ...pauses.map((reason) => `a lane still says ${reason}`),
    ...due.map(({ number }) => `the metadata of RWA ${number} are not reported`),
  ];
}

/** NFTs that have waited for long and do not say why. */
export async function silent(world: World): Promise<string[]> {
  const still = new Set(
    await world
      .db('nfts')
      .where('updated_at', '<', new Date(Date.now() - silentMs))
      .pluck('id'),
  );
  const mints = await listMints(world.db, {
    states: ['queued', 'submitted'],
    chainId: undefined,
    limit: 100,
  });
  const names = mints
    // Nodes do not show why blocks leave out what is worth its price.
    .filter(({ reason }) => reason === null || (reason === 'unexplained' && !world.state.isLeftOut))
    .filter(({ nftId }) => still.has(nftId))
    .map(
      async ({ nftId, reason, why }) =>
        `${await world.nameOf(nftId)} waits without a reason (${reason}: ${why})`,
    );
  return Promise.all(names);
}
