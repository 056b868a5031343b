import type { ServerResponse } from 'node:http';

/** Counts the bytes of answers that callers have not read yet, over all connections of the process. */
export type AnswerMemory = {
  /**
   * Counts these bytes for an answer, in place of those before, until it is sent or its connection is closed.
   * @returns false, and counts what it did, when they are too many. What a change answers is counted in any case
   */
  hold(response: ServerResponse, tenant: string, bytes: number): boolean;
};

type Holding = { readonly tenant: string; bytes: number };

// A usual page: whatever others leave unread, each tenant gets so much.
const alwaysBytes = 64 * 1024;

/**
 * A tenant's first answer may take what is left, further ones no more than is left behind them: one alone has half
 * of all, the next one half of the rest.
 * @param maxBytes bytes of all answers under way; one answer alone may have more
 */
export function createAnswerMemory(maxBytes: number): AnswerMemory {
  const ofTenants = new Map<string, number>();
  const holdings = new WeakMap<ServerResponse, Holding>();
  let held = 0;

  const fits = (tenant: string, before: number, bytes: number): boolean => {
    const others = held - before;
    const own = (ofTenants.get(tenant) ?? 0) - before + bytes;
    const left = maxBytes - others - bytes;
    return others === 0 || own <= alwaysBytes || (own === bytes ? left >= 0 : own <= left);
  };
  const add = (tenant: string, bytes: number) => {
    held += bytes;
    const own = (ofTenants.get(tenant) ?? 0) + bytes;
    if (own === 0) ofTenants.delete(tenant);
    else ofTenants.set(tenant, own);
  };

  return {
    hold(response, tenant, bytes) {
      const known = holdings.get(response);
      const before = known?.bytes ?? 0;
      const mayBeRefused = bytes > before && response.req.method === 'GET';
      if (mayBeRefused && !fits(tenant, before, bytes)) return false;
      if (response.destroyed) return true;
      add(tenant, bytes - before);
      if (known !== undefined) known.bytes = bytes;
      else {
        const holding = { tenant, bytes };
        holdings.set(response, holding);
        response.once('close', () => add(tenant, -holding.bytes));
      }
      return true;
    },
  };
}
