import { setTimeout as wait } from 'node:timers/promises';
import { setArchived, updateRwa } from '../../../src/rwa/assets/rwa-change-store.ts';
import { findRwa } from '../../../src/rwa/assets/rwa-store.ts';
import { stopLanes } from '../../../src/rwa/operators/remedies/mint-admin-store.ts';
import { acceptSnapshot } from '../../../src/rwa/ownership/accept-snapshot.ts';
import type { Flaw } from '../../support/node/flaw.ts';
import { lies } from '../../support/node/lies.ts';
import { tipFloor } from '../../support/node/limits.ts';
import type { Chance } from '../chance.ts';
import { admin, blockMs, chainText, contract, finalityDepth, treasury } from './constants.ts';
import { abi, minterRole } from './contract.ts';
import { act } from './operator.ts';
import type { Worker } from './trespasses.ts';
import type { Rwa, World } from './world.ts';

/** Lets one thing happen. @returns what it was, in words */
type Happen = (world: World, chance: Chance) => Promise<string> | string;

type Fault = {
  /** How often it is chosen. */
  readonly weight: number;
  readonly happen: Happen;
};

const gwei = 10n ** 9n;
const now = () => Math.floor(Date.now() / 1_000);
const wallets = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}`);
/** Where nobody takes a token from again: the contract has no burn. */
const burnt = '0x000000000000000000000000000000000000dEaD';

/** Ends something after a while, unless the life has become calm before. */
const later = (ms: number, end: () => void) => void setTimeout(end, ms).unref();

const rwaOf = ({ rwas }: World, chance: Chance) => chance.of(rwas);

const { 'lags now and then': _dependsOnOtherLives, ...repeatable } = lies;
const untruths: Readonly<Record<string, Flaw>> = {
  ...repeatable,
  'wants a higher tip': tipFloor({ least: 30n * gwei, say: () => 'transaction underpriced' }),
};

/** Lets something happen to a worker: after some statements and questions, or a few after a step of its lane. */
function ambush(
  { workers }: World,
  chance: Chance,
  what: string,
  happen: (worker: Worker, count: number) => void,
): string {
  const [at, step] = [chance.below(60), chance.of(['', '', 'signed', 'stored', 'mined', 'raise_stored'])];
  const count = chance.below(step === '' ? 80 : 4);
  const worker = workers[at % Math.max(1, workers.length)];
  if (worker === undefined) return 'no worker';
  if (step === '') happen(worker, count);
  else worker.ambush = { step, happen: () => happen(worker, count) };
  return `${worker.process.name} ${what}, ${count} questions after ${step === '' ? 'now' : `it has ${step}`}`;
}

/** Keeps our transactions out of blocks for a time. */
function leaveOut({ state }: World, ms: number): void {
  state.isLeftOut = true;
  later(ms, () => {
    state.isLeftOut = false;
  });
}

/** Lets nodes lie for a time. */
function lie({ nodes, state }: World, name: string, ms: number, liars = nodes.all): void {
  const flaw = untruths[name];
  for (const node of liars) {
    node.lie = flaw;
    later(ms, () => {
      if (node.lie === flaw) node.lie = undefined;
    });
  }
  if (name === 'no logs' || name === 'other chain') state.isLedgerDeceived = true;
}

async function changeMetadata({ chain, db, state }: World, rwa: Rwa, chance: Chance): Promise<void> {
  const description = `changed ${chance.below(1_000_000)}`;
  await db.transaction((tx) => updateRwa(tx, rwa, { description }));
  const due = await db('rwas').where({ id: rwa.id }).whereNotNull('metadata_changed_at').first();
  if (due !== undefined) state.changes.set(due.number, chain.head().number);
}

/** Has an operator do something about a mint that is under way. */
async function actOnAny(world: World, chance: Chance, action: 'cancel' | 'release'): Promise<string> {
  const at = chance.below(5_040);
  const rows = await world
    .db('nfts')
    .whereIn('mint_state', ['queued', 'submitted', 'failed'])
    .orderBy(['rwa_number', 'serial']);
  const row = rows[at % Math.max(1, rows.length)];
  if (row === undefined) return `nothing to ${action}`;
  await act(world, row.id, action);
  return `an operator wants to ${action} a mint`;
}

export const faults: Readonly<Record<string, Fault>> = {
  mint: {
    weight: 6,
    async happen(world, chance) {
      const count = chance.of([1, 1, 2, 4]);
      const recipients = Array.from({ length: count }, () => chance.of([undefined, ...wallets]));
      await world.mint(rwaOf(world, chance), count, recipients);
      return `mint ${count}`;
    },
  },
  claim: {
    weight: 2,
    async happen(world, chance) {
      await world.claim(rwaOf(world, chance), chance.of(wallets));
      return 'claim one';
    },
  },
  crash: {
    weight: 8,
    happen: (world, chance) =>
      ambush(world, chance, 'dies', (worker, count) => worker.process.dieAfter(count)),
  },
  freeze: {
    weight: 5,
    happen(world, chance) {
      const ms = 1_000 + chance.below(150_000);
      return ambush(world, chance, `stands still for ${ms} ms`, (worker, count) =>
        worker.process.freezeAfter(count, ms),
      );
    },
  },
  worker: {
    weight: 2,
    async happen(world, chance) {
      if (world.workers.length < 3) await world.startWorker({ offset: chance.below(1_000_000), rate: 1 });
      return 'another worker';
    },
  },
  stop: {
    weight: 1,
    async happen({ workers }) {
      const [oldest] = workers;
      void oldest?.stop();
      return `${oldest?.process.name ?? 'no worker'} stops`;
    },
  },
  lie: {
    weight: 8,
    happen(world, chance) {
      const [name, at] = [chance.of(Object.keys(untruths)), chance.below(60)];
      const ms = 2_000 + chance.below(chance.of([60_000, 60_000, 200_000]));
      const { all } = world.nodes;
      const liars = chance.below(3) === 0 ? all : all.slice(at % all.length).slice(0, 1);
      lie(world, name, ms, liars);
      return `${liars.map(({ url }) => url)}: ${name} for ${ms} ms`;
    },
  },
  reorganise: {
    weight: 5,
    happen({ chain }, chance) {
      const [depth, keeps] = [1 + chance.below(finalityDepth), chance.below(2) > 0];
      chain.reorganise(depth, now(), keeps);
      return `reorganise ${depth}${keeps ? '' : ', and nobody keeps the transactions'}`;
    },
  },
  'roll back': {
    weight: 2,
    happen({ chain, state }, chance) {
      const [depth, keeps] = [finalityDepth + 1 + chance.below(6), chance.below(2) > 0];
      state.hasRolledBack = true;
      chain.reorganise(depth, now(), keeps);
      return `final blocks are replaced, ${depth} deep${keeps ? '' : ', and nobody keeps the transactions'}`;
    },
  },
  drop: {
    weight: 3,
    happen({ chain }, chance) {
      const ms = chance.below(4_000);
      chain.drop();
      later(ms, () => chain.drop());
      return `nobody has the transactions that wait, now and in ${ms} ms`;
    },
  },
  'left out': {
    weight: 3,
    happen(world, chance) {
      const ms = chance.of([20_000, 60_000, 90_000, 600_000]);
      leaveOut(world, ms);
      return `blocks have no transaction of ours for ${ms} ms`;
    },
  },
  'older attempts': {
    weight: 2,
    happen({ chain, signatures }) {
      for (const sent of [...signatures.all.values()].toReversed()) chain.putBack(sent);
      return 'whoever makes blocks has the older attempts';
    },
  },
  reverting: {
    weight: 1,
    async happen(world, chance) {
      world.chain.change((state) => ({ ...state, isReverting: true }));
      const rwa = rwaOf(world, chance);
      await changeMetadata(world, rwa, chance);
      await world.mint(rwa, 6, []);
      return 'the contract reverts what its estimates allow; metadata change, and 6 are wanted';
    },
  },
  'api dies': {
    weight: 3,
    happen({ api }, chance) {
      const count = chance.below(24);
      if (chance.below(2) === 0) api().dieAfter(count);
      else api().dieAfterCommit();
      return `the api dies after ${count}, or its next commit`;
    },
  },
  snapshot: {
    weight: 3,
    async happen(world, chance) {
      const { id, companyId } = rwaOf(world, chance);
      const [ledger] = await world.db('nft_ledgers').where('number', '>=', world.db.ref('first_block'));
      const rwa = await findRwa(world.db, companyId, id);
      if (ledger === undefined || rwa === undefined) return 'nothing to take a snapshot of';
      const asked = world.db.transaction((tx) => acceptSnapshot(tx, rwa, BigInt(ledger.number), 1_000));
      return asked.then(
        () => `a snapshot at block ${ledger.number}`,
        (error: unknown) => `no snapshot: ${String(error)}`,
      );
    },
  },
  'base fee': {
    weight: 3,
    happen({ chain }, chance) {
      const fee = BigInt(chance.of([0, 1, 5, 20, 60, 300]));
      chain.setBaseFee(fee * gwei);
      return `base fee ${fee} gwei`;
    },
  },
  'no blocks': {
    weight: 2,
    happen({ state }, chance) {
      const ms = blockMs + chance.below(90_000);
      state.isMining = false;
      later(ms, () => {
        state.isMining = true;
      });
      return `no blocks for ${ms} ms`;
    },
  },
  blocks: {
    weight: 2,
    happen({ chain }, chance) {
      const count = 1 + chance.below(5);
      for (let left = count; left > 0; left -= 1) chain.mine(now());
      return `${count} blocks at once`;
    },
  },
  'foreign nonce': {
    weight: 4,
    happen({ chain, signers }, chance) {
      const [signer, isAhead] = [chance.of(signers).toLowerCase(), chance.below(3) === 0];
      // Another installation may have the same signer and mint on the same contract.
      const token = ((1n << 60n) + BigInt(chance.below(1_000_000))) << 64n;
      const mint = abi.encodeFunctionData('mintBatch', [[chance.of(wallets)], [token + 1n]]);
      const [to, data] = chance.below(3) === 0 ? [contract.toLowerCase(), mint] : [signer, '0x'];
      const count = chain.head().state.nonces.get(signer) ?? 0;
      const nonce = isAhead ? count + 1 : count;
      try {
        chain.takeFrom(signer, to, data, { nonce, maxFee: 500n * gwei });
        return `somebody else uses nonce ${nonce}${to === signer ? '' : ' to mint'}`;
      } catch (error) {
        return `somebody else cannot use nonce ${nonce}: ${String(error)}`;
      }
    },
  },
  'by hand': {
    weight: 2,
    async happen(world, chance) {
      const { chain, db, nameOf } = world;
      const [at, isOther] = [chance.below(5_040), chance.below(2) === 0];
      const [isFirst, isHidden] = [chance.below(2) === 0, chance.below(3) === 0];
      const rows = await db('nfts')
        .whereIn('mint_state', ['queued', 'submitted'])
        .orderBy(['rwa_number', 'serial']);
      const row = rows[at % Math.max(1, rows.length)];
      if (row === undefined) return 'nothing to mint by hand';
      const to = isOther ? chance.of(wallets) : row.recipient;
      if (isFirst) leaveOut(world, 2 * blockMs);
      if (isHidden) lie(world, 'no logs', 150_000);
      chain.takeFrom(admin, contract.toLowerCase(), abi.encodeFunctionData('grantRole', [minterRole, admin]));
      chain.takeFrom(
        admin,
        contract.toLowerCase(),
        abi.encodeFunctionData('mintBatch', [[to], [row.token_id]]),
      );
      const whom = to === row.recipient ? 'its recipient' : 'another';
      return `${await nameOf(row.id)} is minted by hand to ${whom}${isHidden ? ', and no node shows it' : ''}`;
    },
  },
  poor: {
    weight: 1,
    happen({ chain, signers }, chance) {
      const signer = chance.of(signers).toLowerCase();
      chain.change((state) => ({ ...state, balances: new Map(state.balances).set(signer, 1n) }));
      return 'a signer has no money';
    },
  },
  'no right': {
    weight: 1,
    happen({ chain, signers }, chance) {
      const data = abi.encodeFunctionData('revokeRole', [minterRole, chance.of(signers)]);
      chain.takeFrom(admin, contract.toLowerCase(), data);
      return 'a signer loses the right to mint';
    },
  },
  archive: {
    weight: 1,
    async happen(world, chance) {
      const [rwa, isArchived] = [rwaOf(world, chance), chance.below(3) > 0];
      await world.db.transaction((tx) => setArchived(tx, rwa, isArchived));
      return isArchived ? 'an RWA is archived' : 'an RWA is put back';
    },
  },
  metadata: {
    weight: 2,
    async happen(world, chance) {
      await changeMetadata(world, rwaOf(world, chance), chance);
      return 'metadata of an RWA change';
    },
  },
  transfer: {
    weight: 3,
    happen({ chain }, chance) {
      const [at, to] = [chance.below(5_040), chance.of([...wallets, burnt, treasury])];
      const held = [...chain.head().state.contract.owners].filter(
        ([, owner]) => owner !== burnt.toLowerCase(),
      );
      const [token, owner] = held[at % Math.max(1, held.length)] ?? [];
      if (token === undefined || owner === undefined) return 'nothing to transfer';
      const data = abi.encodeFunctionData('transferFrom', [owner, to, token]);
      chain.takeFrom(owner, contract.toLowerCase(), data);
      return to === burnt ? 'an owner burns a token' : 'an owner transfers a token';
    },
  },
  stopLanes: {
    weight: 1,
    async happen({ db }) {
      await stopLanes(db, { chainId: chainText, signer: undefined }, true);
      return 'an operator stops minting';
    },
  },
  cancel: { weight: 2, happen: (world, chance) => actOnAny(world, chance, 'cancel') },
  release: { weight: 2, happen: (world, chance) => actOnAny(world, chance, 'release') },
  'back up': {
    weight: 2,
    async happen({ database }) {
      await database.backUp();
      return 'back up';
    },
  },
  restore: {
    weight: 2,
    async happen(world, chance) {
      await Promise.all([...world.workers].map((worker) => worker.stop()));
      await world.database.restore();
      world.state.hasRestored = true;
      await world.startWorker({ offset: chance.below(1_000_000), rate: chance.of([0.98, 1, 1.02]) });
      return 'a backup is restored';
    },
  },
  quiet: {
    weight: 2,
    async happen(_world, chance) {
      const ms = chance.of([20_000, 60_000, 100_000]);
      await wait(ms);
      return `nothing happens for ${ms} ms`;
    },
  },
};
