import type { Socket } from 'node:net';
import type { Client } from 'pg';
import type { Logger } from '../log.ts';
import type { Probe } from './probe.ts';

/** Of pg's client; its types lack the connection, which has the socket. */
export type WatchedClient = Client & {
  readonly processID: number | null;
  readonly connection: { readonly stream: Socket };
};

export type SilenceWatch = {
  /** Watches a connection that was just opened, until it ends. */
  add(client: WatchedClient): void;
  /** Whether nothing says that the connection is dead. */
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
  /** How long to wait where the server cannot tell, as behind a pooler: longer than its `statement_timeout`. */
  readonly longestMs: number;
};

// Together with the limit of the probe: a dead connection is noticed within 9 s.
const defaults: SilenceLimits = { lookMs: 500, silenceMs: 4_000, graceMs: 1_000, longestMs: 40_000 };

type State = {
  /** How much was written when all statements were last answered. */
  answeredBytes: number;
  /** When a byte last arrived; while statements are in flight, not before the first of them was noticed. */
  heardAt: number;
  isWaiting: boolean;
  /** Since when the server has said that it waits for us; undefined where it has not. */
  idleSince: number | undefined;
  nextProbeAt: number;
  isTrusted: boolean;
};

/**
 * Ends connections that a network has silently lost: their statements would wait until the kernel gives up, for a
 * quarter of an hour. A slow statement looks the same to us, so the server is asked on another connection what it does:
 * a statement that it works on is left alone, under the limit of the server.
 */
export function createSilenceWatch({ probe, log, limits = {} }: WatchOptions): SilenceWatch {
  const { lookMs, silenceMs, graceMs, longestMs } = { ...defaults, ...limits };
  const states = new Map<WatchedClient, State>();
  let timer: NodeJS.Timeout | undefined;
  let isProbing = false;

  const look = () => {
    const now = performance.now();
    const due = [...states].filter(([client, state]) => {
      noteProgress(client, state, now);
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
    const answer = await probe([...due.keys()].flatMap(({ processID }) => processID ?? []));
    for (const [client, state] of due) {
      // It was answered while the server was asked: also where this process itself was stopped for a while.
      if (!state.isWaiting || state.heardAt > askedAt) continue;
      if (isDead(client, state, answer)) end(client, state);
    }
  };

  const isDead = ({ processID }: WatchedClient, state: State, answer: Awaited<ReturnType<Probe>>) => {
    const now = performance.now();
    if (answer === 'silent') return true;
    const activity = answer.get(processID ?? 0);
    if (activity === undefined) return now - state.heardAt >= longestMs;
    if (activity === 'active') {
      state.idleSince = undefined;
      state.nextProbeAt = now + silenceMs;
      return false;
    }
    state.idleSince ??= now;
    return now - state.idleSince >= graceMs;
  };

  const end = ({ connection }: WatchedClient, { heardAt }: State) => {
    const seconds = Math.round((performance.now() - heardAt) / 1_000);
    log.warn({ seconds }, 'database connection is silent and is replaced');
    // What was lost once is lost for the others too: those that show no sign of life are not used again.
    for (const other of states.values()) other.isTrusted &&= other.heardAt > heardAt;
    connection.stream.destroy(
      Object.assign(new Error(`The database gave no answer for ${seconds} s.`), { code: 'ETIMEDOUT' }),
    );
  };

  return {
    add(client) {
      const { stream } = client.connection;
      const state = newState(stream);
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
      if (states.size === 1) timer = setInterval(look, lookMs).unref();
    },
    isTrusted: (client) => states.get(client)?.isTrusted ?? false,
  };
}

const newState = (stream: Socket): State => ({
  answeredBytes: stream.bytesWritten,
  heardAt: performance.now(),
  isWaiting: false,
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
  state.heardAt = now;
  state.idleSince = undefined;
  state.nextProbeAt = 0;
}
