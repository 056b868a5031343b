import type { Knex } from 'knex';
import type { Tx } from '../contract/transaction.ts';
import { ProblemError, problem } from '../errors.ts';
import { isOutage } from './outage.ts';
import { inTransaction } from './transaction.ts';

/** Whose works may have a transaction in common. */
export type Sharing = {
  /** Names those that may: what they have in common. */
  readonly line: string;
  /** What the work is about: works about the same follow each other. */
  readonly about: string;
};

/**
 * A work that may share its transaction with others: it may run twice, its statements stand in `together`, and a
 * problem that it throws is thrown before it has changed anything.
 */
type Work<T> = (tx: Tx) => Promise<T>;

/**
 * Transactions for many small works at once. While few come, each has its own; while the transactions of a line
 * are under way, those that come wait and have the next one in common: a statement, a commit and a flush to the
 * disk then serve all of them.
 */
export type SharedTransactions = {
  /** @throws what the work throws; then nothing of it stays, and the others are as if it had not been there */
  run<T>(sharing: Sharing, work: Work<T>): Promise<T>;
};

type Piece = {
  readonly about: string;
  readonly work: Work<unknown>;
  readonly patience: NodeJS.Timeout;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};
type Line = { waiting: Piece[]; running: number };

const atOnce = 2;
const mostTogether = 32;
// As long as for a connection of the pool.
const defaultPatienceMs = 5_000;

export function createSharedTransactions(db: Knex, patienceMs = defaultPatienceMs): SharedTransactions {
  const lines = new Map<string, Line>();

  const begin = (name: string, line: Line) => {
    while (line.running < atOnce && line.waiting.length > 0) {
      line.running += 1;
      const pieces = line.waiting.splice(0, mostTogether);
      for (const { patience } of pieces) clearTimeout(patience);
      void runTogether(db, pieces).finally(() => {
        line.running -= 1;
        begin(name, line);
      });
    }
    if (line.running === 0 && lines.get(name) === line) lines.delete(name);
  };

  return {
    run<T>({ line: name, about }: Sharing, work: Work<T>) {
      const line = lines.get(name) ?? { waiting: [], running: 0 };
      lines.set(name, line);
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const giveUp = () => {
        line.waiting = line.waiting.filter((other) => other !== piece);
        reject(problem('service_unavailable', {}, { cause: new Error('no turn in time') }));
      };
      const patience = setTimeout(giveUp, patienceMs);
      const done = (result: unknown) => resolve(result as T); // of this very work
      const piece: Piece = { about, work, patience, resolve: done, reject };
      line.waiting.push(piece);
      // Those that come in the same moment go together.
      if (line.waiting.length === 1) setImmediate(begin, name, line);
      return promise;
    },
  };
}

type Outcome = { readonly piece: Piece; readonly end: PromiseSettledResult<unknown> };

/** Never throws: each piece hears what became of it. */
async function runTogether(db: Knex, pieces: readonly Piece[]): Promise<void> {
  let isWorking = false;
  try {
    const outcomes = await inTransaction(db, async (tx) => {
      isWorking = true;
      const ends = await workAll(tx, pieces);
      assertHarmless(ends);
      isWorking = false;
      return ends;
    });
    for (const { piece, end } of outcomes) {
      if (end.status === 'fulfilled') piece.resolve(end.value);
      else piece.reject(end.reason);
    }
  } catch (error) {
    // While they worked nothing was committed: each may try by itself, and only who is to blame fails. Not when
    // the database is out, or a row is locked for long: then all of them would wait for that once more.
    const isAnybodys = isWorking && pieces.length > 1 && !isOutage(error);
    if (isAnybodys) await Promise.all(pieces.map((piece) => runTogether(db, [piece])));
    else for (const piece of pieces) piece.reject(error);
  }
}

async function workAll(tx: Tx, pieces: readonly Piece[]): Promise<Outcome[]> {
  const chains = Map.groupBy(pieces, ({ about }) => about);
  const ends = [...chains.values()].map(async (chain) => {
    const outcomes: Outcome[] = [];
    for (const piece of chain) {
      const [end] = await Promise.allSettled([piece.work(tx)]);
      outcomes.push({ piece, end });
    }
    return outcomes;
  });
  return (await Promise.all(ends)).flat();
}

/** @throws what keeps the transaction from being committed. Who is alone has it undone for a mere problem, too */
function assertHarmless(ends: readonly Outcome[]): void {
  const reasons = ends.flatMap(({ end }) => (end.status === 'rejected' ? [end.reason] : []));
  const harmful = ends.length === 1 ? reasons : reasons.filter((reason) => !(reason instanceof ProblemError));
  // What is first in their order need not have been the cause.
  if (harmful.length > 0) throw harmful.find(isOutage) ?? harmful[0];
}
