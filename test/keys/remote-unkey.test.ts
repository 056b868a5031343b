import { randomUUID } from 'node:crypto';
import { createRemoteVerifier } from '../../src/keys/remote-verifier.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';
import { describeKeyVerifier, type IssuedKey, type KeyService, waitMs } from '../suites/key-verifier.ts';
import { credential, startAuthServer } from './auth-server.ts';
import { startGate } from './tcp-gate.ts';
import recorded from './unkey-answers.json' with { type: 'json' };

type Code = 'DISABLED' | 'RATE_LIMITED' | 'USAGE_EXCEEDED';
type State = {
  readonly issued: IssuedKey;
  code?: Code;
  once?: Code;
  expires?: number;
  permissions?: readonly string[];
};

/** Plays the recorded answers of Unkey: which one is a matter of the key's state. */
function play(states: ReadonlyMap<string, State>, key: string): unknown {
  const state = states.get(key);
  if (state === undefined) return recorded.NOT_FOUND;
  if (state.code !== undefined) return recorded[state.code];
  if (state.expires !== undefined && state.expires <= Date.now()) return recorded.EXPIRED;
  if (state.once !== undefined) state.code = state.once;
  const { companyId, id } = state.issued;
  const { meta, data } = companyId === null ? recorded.VALID_WITHOUT_IDENTITY : recorded.VALID;
  const { expires, permissions } = state;
  const own = { keyId: id, ...(expires && { expires }), ...(permissions && { permissions }) };
  return { meta, data: { ...data, ...own } };
}

describeKeyVerifier('remote (Unkey)', async (): Promise<KeyService> => {
  const states = new Map<string, State>();
  const server = await startAuthServer((key) => play(states, key));
  const gate = await startGate(server.url);

  const issue = async (companyId: string | null, once?: Code): Promise<IssuedKey> => {
    const issued = { key: `3Z${randomUUID()}`, id: `key_${states.size}`, companyId };
    states.set(issued.key, { issued, ...(once && { once }) });
    return issued;
  };
  const stateOf = ({ key }: IssuedKey): State => {
    const state = states.get(key);
    if (state === undefined) throw new Error('no such key');
    return state;
  };

  return {
    gate,
    verifier: async ({ cacheSeconds }) =>
      createRemoteVerifier({
        url: gate.through(server.url),
        credential,
        dialect: 'unkey',
        timeoutMs: waitMs,
        cacheSeconds,
        cacheMax: 100,
        outgoing: createOutgoing(),
      }),
    issue: ({ company }) => issue(company ? recorded.VALID.data.identity.externalId : null),
    issueLimited: {
      rate: () => issue('acme', 'RATE_LIMITED'),
      usage: () => issue('acme', 'USAGE_EXCEEDED'),
    },
    async revoke(key) {
      stateOf(key).code = 'DISABLED';
    },
    async limit(key, scopes) {
      stateOf(key).permissions = scopes ?? [];
    },
    async expire(key, inMs) {
      stateOf(key).expires = Date.now() + inMs;
    },
    unknownKey: `3Z${randomUUID()}`,
    malformedKeys: ['', ' ', 'with space', 'ключ', 'line\nbreak', 'x'.repeat(513)],
    async close() {
      await gate.close();
      await server.close();
    },
  };
});
