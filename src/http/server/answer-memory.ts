import type { ServerResponse } from 'node:http';

/** Counts the bytes of answers that callers have not read yet, over all connections of the process. */
export type AnswerMemory = {
  /** Returns what counts the bytes of this answer, until it is sent or its connection is closed. */
  open(response: ServerResponse, tenant: string): Reserve;
};

/**
 * Counts these bytes in place of those before. What a change reports is counted in any case.
 * @returns false, and counts what it did, when they are too many
 */
export type Reserve = (bytes: number) => boolean;

// A usual page: whatever others leave unread, each tenant gets so much.
const alwaysBytes = 64 * 1024;

/**
 * A tenant's first answer may take the free memory. Further answers may take no more than they leave free: one alone
 * has half of all, the next half of the rest.
 * @param maxBytes bytes of all answers under way; one answer alone may have more
 */
export function createAnswerMemory(maxBytes: number): AnswerMemory {
  const ofTenants = new Map<string, number>();
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
    open(response, tenant) {
      let own: number | undefined;
      return (bytes) => {
        const before = own ?? 0;
        const mayBeRefused = bytes > before && response.req.method === 'GET';
        if (mayBeRefused && !fits(tenant, before, bytes)) return false;
        if (response.destroyed) return true;
        add(tenant, bytes - before);
        if (own === undefined) response.once('close', () => add(tenant, -(own ?? 0)));
        own = bytes;
        return true;
      };
    },
  };
}
