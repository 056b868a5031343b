import type { Socket } from 'node:net';
import type { Client } from 'pg';
import type { Logger } from '../log.ts';
import { inBackground } from '../request-scope.ts';
import type { Probe } from './probe.ts';

/** Of pg's client; its types lack the connection, which has the socket and tells of the server's errors. */
export type WatchedClient = Client & {
  readonly connection: {
    readonly stream: Socket;
    on(event: 'errorMessage', listener: (error: { readonly code?: string }) => void): unknown;
  };
};

export type SilenceWatch = {
  /** Watches a connection that was just opened, until it ends. @param name as the server will show it */
  add(client: WatchedClient, name: string): void;
  /**
   * Whether nothing says that the connection is dead, and the server is done with what it was given: after an error it may
   * still be busy, such as a coordinator that waits for a frozen node of its cluster to hear of a cancelled statement.
   */
  isTrusted(client: WatchedClient): boolean;
};

type WatchOptions = {
  readonly probe: Probe;
  readonly log: Logger;
  readonly limits?: Partial<SilenceLimits>;
};

type SilenceLimits = {
  /** Time between two looks at the connections. */
  readonly lookMs: number;
  /** How long a statement may go without a byte of an answer before the server is asked about it. */
  readonly silenceMs: number;
  /** How long an answer may take to arrive after the server has finished the statement. */
  readonly graceMs: number;
  /** How long statements may be under way at all: longer than the server allows one. */
  readonly deadlineMs: number;
};

// Together with the limit of the probe: a dead connection is noticed within 9 s.
const defaults: SilenceLimits = { lookMs: 500, silenceMs: 4_000, graceMs: 1_000, deadlineMs: 35_000 };

type State = {
  readonly name: string;
  /** How much was written when all statements were last answered. */
  answeredBytes: number;
  /** When a byte last arrived; while statements are in flight, not before the first of them was noticed. */
  heardAt: number;
  isWaiting: boolean;
  /** While it waits: since when statements are in flight. */
  waitingSince: number;
  /** Since when the server has said that it waits for us; undefined where it has not. */
  idleSince: number | undefined;
  nextProbeAt: number;
  isTrusted: boolean;
};

/**
 * Ends connections that a network has silently lost: their statements would wait until the kernel gives up, for a
 * quarter of an hour. A slow statement looks the same to us, so the server is asked on another connection what it does:
 * a statement that it works on is left alone until its deadline, which the server keeps as well.
 */
export function createSilenceWatch({ probe, log, limits = {} }: WatchOptions): SilenceWatch {
  const { lookMs, silenceMs, graceMs, deadlineMs } = { ...defaults, ...limits };
  const states = new Map<WatchedClient, State>();
  let timer: NodeJS.Timeout | undefined;
  let isProbing = false;

  const look = () => {
    const now = performance.now();
    const due = [...states].filter(([client, state]) => {
      noteProgress(client, state, now);
      if (state.isWaiting && now - state.waitingSince >= deadlineMs)
        endOverdue(client, now - state.waitingSince);
      return state.isWaiting && now - state.heardAt >= silenceMs && now >= state.nextProbeAt;
    });
    if (due.length === 0 || isProbing) return;
    isProbing = true;
    void ask(new Map(due)).finally(() => {
      isProbing = false;
    });
  };

  const ask = async (due: ReadonlyMap<WatchedClient, State>) => {
    const askedAt = performance.now();
    const answer = await probe([...due.values()].map(({ name }) => name));
    for (const [client, state] of due) {
      // It was answered while the server was asked: also where this process itself was stopped for a while.
      if (!state.isWaiting || state.heardAt > askedAt) continue;
      if (isDead(state, answer)) end(client, state);
    }
  };

  const isDead = (state: State, answer: Awaited<ReturnType<Probe>>) => {
    const now = performance.now();
    if (answer === 'silent') return true;
    // A connection that the server does not know ended there, or waits at a pooler that has no session to lend.
    if (answer === 'refused' || answer.get(state.name) === 'active') {
      state.idleSince = undefined;
      state.nextProbeAt = now + silenceMs;
      return false;
    }
    state.idleSince ??= now;
    return now - state.idleSince >= graceMs;
  };

  const end = (client: WatchedClient, { heardAt }: State) => {
    const seconds = secondsOf(performance.now() - heardAt);
    log.warn({ seconds }, 'database connection is silent and is replaced');
    // What was lost once is lost for the others too: those that show no sign of life are not used again.
    for (const other of states.values()) other.isTrusted &&= other.heardAt > heardAt;
    destroy(client, `The database gave no answer for ${seconds} s.`);
  };

  const endOverdue = (client: WatchedClient, ms: number) => {
    log.warn({ seconds: secondsOf(ms) }, 'database connection is overdue and is replaced');
    destroy(client, `The database did not end a statement in ${secondsOf(ms)} s.`);
  };

  return {
    add(client, name) {
      const { stream } = client.connection;
      const state = newState(stream, name);
      states.set(client, state);
      stream.on('data', () => {
        state.heardAt = performance.now();
        state.idleSince = undefined;
        state.isTrusted = true;
      });
      client.on('drain', () => {
        state.answeredBytes = stream.bytesWritten;
        state.isWaiting = false;
      });
      client.once('end', () => {
        states.delete(client);
        if (states.size === 0) clearInterval(timer);
      });
      // What it logs is of no request, whichever opened the first connection.
      if (states.size === 1) timer = inBackground(() => setInterval(look, lookMs).unref());
    },
    isTrusted(client) {
      const state = states.get(client);
      return state?.isTrusted === true && client.connection.stream.bytesWritten === state.answeredBytes;
    },
  };
}

const secondsOf = (ms: number) => Math.round(ms / 1_000);

function destroy({ connection }: WatchedClient, message: string): void {
  connection.stream.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
}

const newState = (stream: Socket, name: string): State => ({
  name,
  answeredBytes: stream.bytesWritten,
  heardAt: performance.now(),
  isWaiting: false,
  waitingSince: 0,
  idleSince: undefined,
  nextProbeAt: 0,
  isTrusted: true,
});

function noteProgress({ connection }: WatchedClient, state: State, now: number): void {
  if (connection.stream.bytesWritten === state.answeredBytes) {
    state.isWaiting = false;
    return;
  }
  if (state.isWaiting) return;
  state.isWaiting = true;
  state.waitingSince = now;
  state.heardAt = now;
  state.idleSince = undefined;
  state.nextProbeAt = 0;
}
