import type { Express } from 'express';
import type { Knex } from 'knex';
import { createLogger, type Logger } from '../../src/base/log.ts';
import { createDocumentApp } from '../../src/compose/app.ts';
import type { AnyReply, Caller, CompanyContext } from '../../src/contract/operation.ts';
import { type AddressLimit, createAddressLimit } from '../../src/http/dispatch/address-limit.ts';
import type { Limiter } from '../../src/http/dispatch/limits.ts';
import { type Admission, createAdmission } from '../../src/http/server/admission.ts';
import type { KeyVerifier } from '../../src/keys/verifier.ts';
import { fixture } from './fixture.ts';

/** What a fixture handler was given. */
type Seen = {
  readonly path: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly header: Record<string, unknown>;
  readonly body: unknown;
};
export type FixtureHandler = (input: Seen, context: CompanyContext) => Promise<AnyReply>;

export const goodKey = 'good';
export const id = '3c0d9c8e-5e55-4f0a-9a0e-0d5f0b6f2f11';
export const address = `0x${'ab'.repeat(20)}`;

export function callerOf(companyId: string | null = 'acme', keyId = 'key-1'): Caller {
  return { keyId, companyId, rateLimit: null, scopes: null };
}

/** `good` belongs to acme, `lonely` to nobody, `limited` reads events only, every other key is invalid. */
export const verifier: KeyVerifier = {
  verify: async (key) => {
    if (key === goodKey) return { ok: true, caller: callerOf() };
    if (key === 'lonely') return { ok: true, caller: callerOf(null, 'key-2') };
    if (key === 'limited') return { ok: true, caller: { ...callerOf(), scopes: ['events:read'] } };
    return { ok: false, reason: 'invalid' };
  },
  close: async () => {},
};

/** Keeps nobody waiting. */
export const generousAdmission = createAdmission({ requests: 10_000, waitMs: 5_000, maxDelayMs: 10_000 });

const unlimited: Limiter = { consume: async () => ({ headers: {} }) };
const echo: FixtureHandler = async (input) => ({ status: 200, body: input });
const operationIds = [
  'listThings',
  'createThing',
  'removeThing',
  'getThing',
  'updateThing',
  'getPart',
  'mintThing',
  'claimThing',
  'getPublic',
];

export type FixtureOptions = {
  readonly verifier?: KeyVerifier;
  readonly limiter?: Limiter;
  readonly refusedKeys?: AddressLimit;
  readonly publicRequests?: AddressLimit;
  readonly admission?: Admission;
  readonly trustedProxies?: readonly string[];
  readonly handlers?: Readonly<Record<string, FixtureHandler>>;
  readonly db?: Knex;
  readonly log?: Logger;
  readonly isCompanyRequired?: boolean;
  readonly maxAnswerBytes?: number;
  readonly deadlineMs?: number;
};

/** The fixture document served at `/api`; handlers echo their input unless they are given. */
export function fixtureApp(options: FixtureOptions = {}): Promise<Express> {
  const echoes = Object.fromEntries(operationIds.map((name) => [name, echo]));
  const handlers = { ...echoes, ...options.handlers };
  const isCompanyRequired = options.isCompanyRequired ?? true;
  return createDocumentApp(
    [
      {
        area: 'fixture',
        basePath: '/api',
        document: fixture,
        // The fixture has no generated types; its handlers take whatever dispatch gives.
        handlers: handlers as Readonly<Record<string, (input: never, context: never) => Promise<AnyReply>>>,
        isCompanyRequired,
      },
    ],
    {
      verifier: options.verifier ?? verifier,
      limiter: options.limiter ?? unlimited,
      refusedKeys: options.refusedKeys ?? createAddressLimit(0),
      publicRequests: options.publicRequests ?? createAddressLimit(0),
      admission: options.admission ?? generousAdmission,
      trustedProxies: options.trustedProxies,
      maxAnswerBytes: options.maxAnswerBytes,
      deadlineMs: options.deadlineMs,
      // Without a database nothing of a test asks for a transaction.
      db: options.db ?? (undefined as unknown as Knex),
      log: options.log ?? createLogger({ level: 'silent' }),
    },
  );
}
