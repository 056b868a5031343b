import type { Express } from 'express';
import type { Knex } from 'knex';
import { createLogger, type Logger } from '../../src/base/log.ts';
import { createDocumentApp } from '../../src/compose/app.ts';
import type { OpenApiDocument } from '../../src/contract/documents.ts';
import type { AnyReply, Caller, CompanyContext } from '../../src/contract/operation.ts';
import { type AddressLimit, createAddressLimit } from '../../src/http/dispatch/address-limit.ts';
import type { Limiter } from '../../src/http/dispatch/limits.ts';
import { createAdmission, type RequestAdmission } from '../../src/http/server/admission.ts';
import { listen } from '../../src/http/server/listener.ts';
import type { StrangerPace } from '../../src/http/server/stranger-pace.ts';
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
  return { keyId, companyId, rateLimit: null, scopes: null, eventId: null };
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
const generousAdmission = createAdmission({ requests: 10_000, waitMs: 5_000, maxDelayMs: 10_000 });

const unlimited: Limiter = { consume: async () => ({ headers: {} }) };
const echo: FixtureHandler = async (input) => ({ status: 200, body: input });

export type FixtureOptions = {
  readonly verifier?: KeyVerifier;
  readonly limiter?: Limiter;
  readonly refusedKeys?: AddressLimit;
  readonly publicRequests?: AddressLimit;
  readonly admission?: RequestAdmission;
  readonly strangers?: StrangerPace;
  readonly trustedProxies?: readonly string[];
  readonly handlers?: Readonly<Record<string, FixtureHandler>>;
  readonly db?: Knex;
  readonly log?: Logger;
  readonly isCompanyRequired?: boolean;
  readonly maxAnswerBytes?: number;
  readonly deadlineMs?: number;
};

/** Listens on a free port, and says nothing. */
export const listenHere = (app: Express, options: Partial<Parameters<typeof listen>[1]> = {}) =>
  listen(app, {
    host: '127.0.0.1',
    port: 0,
    settings: { host: 'HOST', port: 'PORT' },
    log: createLogger({ level: 'silent' }),
    ...options,
  });

/** A document served at `/api`, with the parts that are given. */
export function documentApp(
  document: OpenApiDocument,
  handlers: Readonly<Record<string, FixtureHandler>>,
  options: Omit<FixtureOptions, 'handlers'> = {},
): Promise<Express> {
  const { isCompanyRequired = true, ...parts } = options;
  return createDocumentApp(
    [
      {
        area: 'fixture',
        basePath: '/api',
        document,
        // There are no generated types; its handlers take whatever dispatch gives.
        handlers: handlers as Readonly<Record<string, (input: never, context: never) => Promise<AnyReply>>>,
        isCompanyRequired,
      },
    ],
    {
      verifier,
      limiter: unlimited,
      refusedKeys: createAddressLimit(0),
      publicRequests: createAddressLimit(0),
      admission: generousAdmission,
      // Without a database nothing of a test asks for a transaction.
      db: undefined as unknown as Knex,
      log: createLogger({ level: 'silent' }),
      ...parts,
    },
  );
}

/** The fixture document; handlers echo their input unless they are given. */
export function fixtureApp({ handlers, ...options }: FixtureOptions = {}): Promise<Express> {
  const operations = Object.values(fixture.paths).flatMap((item) => Object.values(item as object));
  const ids: string[] = operations.flatMap(({ operationId }) => operationId ?? []);
  const echoes = Object.fromEntries(ids.map((name) => [name, echo]));
  return documentApp(fixture, { ...echoes, ...handlers }, options);
}
