import { problem } from '../../errors.ts';

/** Called when an answer or a piece of one is made. @param bytes its size; undefined when it is not known */
export type EndShare = (bytes: number | undefined) => void;

/** Lets the large answers of each tenant take turns with one another, so that others come in between. */
export type AnswerShares = {
  /**
   * Waits until the answers of the operation that are being made for the tenant leave room for this one. Begins at
   * once where it can. How large it will be is known from the last one that the tenant got, or anybody.
   * @throws ProblemError `overloaded` after five seconds, or when very many wait already; the signal's reason
   */
  take(tenant: string, operation: string, scope: Signalled): EndShare | Promise<EndShare>;
  /** The same for the next piece of an answer that has begun, so only the signal ends the waiting. */
  takeNext(tenant: string, operation: string, signal: AbortSignal): EndShare | Promise<EndShare>;
};

/** What ends the waiting. It is asked for where something waits. */
type Signalled = { readonly signal: AbortSignal };

/** Answers of one operation for one tenant. */
type Line = {
  readonly tenant: string;
  readonly operation: string;
  /** Bytes that are being made, as expected. */
  making: number;
  /** How large the next one is expected to be. */
  expected: number;
  /** Whether one like it was made before. */
  isKnown: boolean;
  /** After a large one, while others ask, too. */
  isResting: boolean;
  /** What starts those that wait. */
  readonly waiting: Set<() => void>;
};

// Of each line at once. What is read and written in one go keeps the process from everybody else: some milliseconds.
const roomBytes = 256 * 1024;
// While others ask: as many as one of the usual pages, for each of these takes some milliseconds of the process and of the
// database.
const sharedRoomBytes = 16 * 1024;
// Some at once, until the first of them is made.
const unknownBytes = roomBytes / 8;
// What costs a turn of the event loop is noticed by nobody.
const largeBytes = 64 * 1024;
// What many at once cost is noticed by everybody from here on.
const mediumBytes = 8 * 1024;
// Whoever has waited so much longer than a large answer took to be made leaves three quarters of the process to others.
const restPerMs = 3;
const longestRestMs = 500;
const beginPatienceMs = 5_000;
const longestLine = 1_000;
const mostLines = 10_000;

/**
 * Answers of one operation that come to 256 kB in all, or one, are made for a tenant at once. Small ones never wait. While
 * others ask, too, it is 16 kB, and a large one, or each of many at once, is followed by a rest of three times as
 * long as it took.
 */
export function createAnswerShares(now: () => number = () => performance.now()): AnswerShares {
  const lines = new Map<string, Line>();
  const askers = createAskers(now);
  const lastSizes = new Map<string, number>();

  const lineOf = (tenant: string, operation: string): Line => {
    const name = `${operation} ${tenant}`;
    const known = lines.get(name);
    if (known !== undefined) return known;
    if (lines.size >= mostLines) forgetIdle(lines);
    const last = lastSizes.get(operation);
    const expected = Math.min(last ?? unknownBytes, roomBytes);
    const isKnown = last !== undefined;
    const line: Line = {
      tenant,
      operation,
      making: 0,
      expected,
      isKnown,
      isResting: false,
      waiting: new Set(),
    };
    lines.set(name, line);
    return line;
  };

  const hasOthers = ({ tenant }: Line) => askers.hasOthers(tenant);

  const hasRoom = (line: Line): boolean => {
    const { isResting, making, expected, isKnown } = line;
    if (isResting) return false;
    return making === 0 || making + expected <= (isKnown && hasOthers(line) ? sharedRoomBytes : roomBytes);
  };

  const startWaiting = (line: Line): void => {
    for (const start of line.waiting) {
      if (!hasRoom(line)) return;
      start();
    }
  };

  const goOnAfter = (line: Line, tookMs: number) => {
    // After a large one, what others have sent meanwhile comes first.
    if (!hasOthers(line)) return void setImmediate(startWaiting, line);
    line.isResting = true;
    const rested = () => {
      line.isResting = false;
      startWaiting(line);
    };
    setTimeout(rested, Math.min(tookMs * restPerMs, longestRestMs));
  };

  const begin = (line: Line): EndShare => {
    const { operation, expected, isKnown } = line;
    const began = now();
    line.making += expected;
    let isOver = false;
    return (bytes) => {
      if (isOver) return;
      isOver = true;
      line.making -= expected;
      if (bytes !== undefined) {
        lastSizes.set(operation, bytes);
        // Falls by half at most: answers of one operation differ.
        line.expected = Math.min(Math.max(bytes, isKnown ? Math.floor(expected / 2) : 0), roomBytes);
        line.isKnown = true;
      }
      const isMany = line.waiting.size > 0 || line.making > 0;
      const rests =
        expected >= largeBytes || (isKnown && isMany && expected >= mediumBytes && hasOthers(line));
      if (rests && bytes !== undefined) goOnAfter(line, now() - began);
      else if (line.waiting.size > 0) startWaiting(line);
    };
  };

  return {
    take(tenant, operation, scope) {
      askers.note(tenant);
      const line = lineOf(tenant, operation);
      if (line.waiting.size === 0 && hasRoom(line)) return begin(line);
      if (line.waiting.size >= longestLine) throw problem('overloaded');
      return wait(line, () => begin(line), scope.signal, beginPatienceMs);
    },
    takeNext(tenant, operation, signal) {
      const line = lineOf(tenant, operation);
      if (line.waiting.size === 0 && hasRoom(line)) return begin(line);
      signal.throwIfAborted();
      return wait(line, () => begin(line), signal);
    },
  };
}

/** Waits in the line, until it is begun, the patience is over or the signal ends it. */
function wait(
  line: Line,
  begin: () => EndShare,
  signal: AbortSignal,
  patienceMs?: number,
): Promise<EndShare> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      line.waiting.delete(start);
      clearTimeout(patience);
      signal.removeEventListener('abort', onAbort);
    };
    const start = () => {
      leave();
      resolve(begin());
    };
    const fail = (reason: unknown) => {
      leave();
      reject(reason);
    };
    const onAbort = () => fail(signal.reason);
    const patience = patienceMs && setTimeout(() => fail(problem('overloaded')), patienceMs);
    signal.addEventListener('abort', onAbort, { once: true });
    line.waiting.add(start);
  });
}

function forgetIdle(lines: Map<string, Line>): void {
  for (const [name, { making, waiting }] of lines) if (making === 0 && waiting.size === 0) lines.delete(name);
}

// A tenant that asked so lately may ask again at any moment.
const recentMs = 1_000;

/** Remembers which two tenants asked last. */
function createAskers(now: () => number) {
  const nobody = () => ({ tenant: '', at: Number.NEGATIVE_INFINITY });
  let [last, other] = [nobody(), nobody()];
  return {
    note(tenant: string): void {
      if (last.tenant === tenant) last.at = now();
      else [last, other] = [{ tenant, at: now() }, last];
    },
    /** Whether somebody else has asked lately. */
    hasOthers: (tenant: string): boolean => now() - (last.tenant === tenant ? other : last).at < recentMs,
  };
}
