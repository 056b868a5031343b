import { type Client, DatabaseError } from 'pg';
import { codeOf } from './outage.ts';

export type ConnectionWatch = {
  /**
   * Watches a connection that was just opened.
   * @param silentMs time after which the connection is lost while a statement runs; 0 means no limit
   */
  add(connection: Client, silentMs: number): Watched;
  /** Returns whether the connection may be used again. */
  isSound(connection: Client): boolean;
};

type Watched = {
  /** To be called at the begin of each statement. @returns what is to be called at its end */
  begin(): (error: unknown) => void;
  /** From now on nobody else gets the connection. */
  retire(): void;
};

type State = { readonly losses: number; isBusy: boolean; isRetired: boolean };

/** SQLSTATE of a write in a session or on a server that only reads. */
const readOnlyState = '25006';

/**
 * Decides which connections of a pool may be used again. After a connection was lost, older connections are replaced as
 * well: a network that drops one mostly drops all, and nobody notices on an idle connection. A connection is also
 * replaced when its server is not done with its last statement, such as a coordinator that waits for a frozen node,
 * when a transaction was left open, or when its server rejected a write for being read-only: new connections find the
 * server that took over.
 */
export function createConnectionWatch(): ConnectionWatch {
  const states = new WeakMap<Client, State>();
  let losses = 0;
  return {
    add(connection, silentMs) {
      const state: State = { losses, isBusy: false, isRetired: false };
      states.set(connection, state);
      // pg destroys the connection of a statement that is late. Set for each statement, its limit would keep the
      // statement and its rows in memory until a full collection, so only this statement has it.
      const late = { text: 'SELECT 1', query_timeout: 1 };
      const ask = connection.query.bind(connection);
      const giveUp = () => ask(late, () => {});
      let silence: NodeJS.Timeout | undefined;
      const rest = () => {
        state.isBusy = false;
        clearTimeout(silence);
      };
      connection.on('error', () => {
        losses += 1;
      });
      connection.on('drain', rest);
      connection.on('end', rest);
      return {
        begin() {
          state.isBusy = true;
          clearTimeout(silence);
          if (silentMs > 0) silence = setTimeout(giveUp, silentMs).unref();
          return (error) => {
            if (error instanceof DatabaseError) state.isRetired ||= codeOf(error) === readOnlyState;
            // Not of the server. pg reports a statement without an answer before it reports the loss.
            else if (error !== undefined) losses += 1;
          };
        },
        retire() {
          state.isRetired = true;
        },
      };
    },
    isSound(connection) {
      const state = states.get(connection);
      const isDone = state?.isBusy === false && connection.getTransactionStatus() === 'I';
      return isDone && !state.isRetired && state.losses === losses;
    },
  };
}
