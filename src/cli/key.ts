import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../config/config.ts';
import { browserScope, eventScope, isScope, type Scope, scopes } from '../contract/scopes.ts';
import type { Database } from '../contract/transaction.ts';
import { findCompanyOfEvent } from '../events/event-store.ts';
import {
  type ApiKey,
  findKey,
  type KeyRateLimit,
  listKeys,
  revokeKey,
  rotateKey,
  setKeyExpiry,
  setKeyRateLimit,
  setKeyScopes,
} from '../keys/key-store.ts';
import { audited } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { findCompany } from './shared/find.ts';
import { issueAuditedKey } from './shared/new-key.ts';
import { type Output, showPage } from './shared/output.ts';
import { asOperator, type Operator, type Session } from './shared/session.ts';
import { isUuid, moment, wholeNumber, words } from './shared/values.ts';

const columns = {
  id: 'ID',
  hint: 'KEY',
  companyName: 'COMPANY',
  label: 'LABEL',
  scopes: 'SCOPES',
  eventId: 'EVENT',
  state: 'STATE',
  createdAt: 'CREATED',
  expiresAt: 'EXPIRES',
  lastUsedAt: 'LAST USED',
};

export function addKeyCommands(program: Command, session: Session): void {
  const key = program.command('key').description('Manage API keys');
  addCreateCommand(key, session);
  addReadCommands(key, session);
  addEndCommands(key, session);
  addRotateCommand(key, session);
  addLimitCommand(key, session);
  addScopeCommand(key, session);
}

type NewKeyOptions = RateOptions & {
  company?: string;
  label: string;
  expires?: Date;
  scope?: Scope[];
  browser?: true;
  event?: string;
};

function addCreateCommand(key: Command, session: Session): void {
  const create = key
    .command('create')
    .description('Create a key and print it. It cannot be shown again')
    .option(
      '--company <company>',
      'id or name of its company; a key without a company reads blockchain data only',
    )
    .option('--label <text>', 'purpose of the key', words(), 'unnamed')
    .option(
      '--expires <date>',
      'end of the key: a date (midnight UTC) or a timestamp; never by default',
      moment,
    )
    .option(
      '--scope <scope>',
      `limit the key to a scope, repeatable: ${scopes.join(', ')}; without it the key may do everything`,
      severalScopes,
    )
    .option(
      '--event <event>',
      `make a key for a scanner at the door of one event, by its id. Its only scope is ${eventScope}`,
    )
    .option(
      '--browser',
      `make a key for pages of BROWSER_ORIGINS. Its only scope is ${browserScope}, since every visitor can read the key`,
    );
  withRateOptions(create).action((options: NewKeyOptions) =>
    asOperator(session, (operator) => createKey(operator, options)),
  );
  examples(
    create,
    'key create --company acme --label website',
    'key create --company acme --label partner --expires 2027-12-31 --rate 20 --burst 50',
    'key create --company acme --label shop --scope events:read --scope rwa:read',
    'key create --company acme --label page --browser --rate 5',
    'key create --event c49474ee-216a-455c-bbe2-986fc09a5b48 --label north-gate --expires 2027-09-20',
    'key create --company acme --json | jq -r .key',
  );
}

async function createKey({ config, db, output }: Operator, options: NewKeyOptions): Promise<void> {
  const { company, label, expires } = options;
  const scope = scopesOf(options);
  if (expires !== undefined && expires <= new Date()) throw new UsageError('--expires is past.');
  const rateLimit = rateLimitOf(options) ?? null;
  const named = company === undefined ? null : (await findCompany({ db }, company)).id;
  const companyId = options.event === undefined ? named : await companyOfEvent(db, options.event, named);
  const eventId = options.event?.toLowerCase() ?? null;
  const given = { companyId, label, expiresAt: expires ?? null, rateLimit, scopes: scope, eventId };
  const made = await issueAuditedKey({ config, db }, given);
  showNew(output, config, made);
  if (options.browser && config.BROWSER_ORIGINS === undefined) {
    output.say('BROWSER_ORIGINS is not set, so no page may use this key yet.');
  }
}

/** @returns null for a key that may do everything */
function scopesOf({ scope, browser, event }: NewKeyOptions): Scope[] | null {
  if (browser !== undefined && event !== undefined)
    throw new UsageError('Give --browser or --event, not both.');
  if (browser !== undefined) return onlyScope(scope, browserScope, '--browser');
  return event === undefined ? (scope ?? null) : onlyScope(scope, eventScope, '--event');
}

function onlyScope(given: readonly Scope[] | undefined, only: Scope, option: string): Scope[] {
  if (given === undefined || given.every((each) => each === only)) return [only];
  throw new UsageError(`A key with ${option} has the scope ${only} only. Leave --scope out.`);
}

/** Finds the company of an event, which must be the named company if there is one. */
async function companyOfEvent(db: Database, eventId: string, named: string | null): Promise<string> {
  const companyId = isUuid(eventId) ? await findCompanyOfEvent(db, eventId) : undefined;
  if (companyId !== undefined && (named === null || named === companyId)) return companyId;
  throw new UsageError(`There is no event ${eventId}${named === null ? '' : ' of this company'}.`);
}

type ListOptions = { company?: string; limit: number; after?: string };

function addReadCommands(key: Command, session: Session): void {
  key
    .command('list')
    .description('List keys, oldest first, and say when there are more')
    .option('--company <company>', 'list only keys of this company, by id or name')
    .option('--limit <count>', 'list at most so many', wholeNumber(1, 10_000), 100)
    .option('--after <key>', 'list only keys after this one, by its id or by the key itself')
    .action(({ company, limit, after }: ListOptions) =>
      asOperator(session, async ({ db, output }) => {
        const filter = {
          ...(company !== undefined && { companyId: (await findCompany({ db }, company)).id }),
          after: after === undefined ? undefined : ((await findKey(db, after)) ?? unknownKey()).id,
        };
        const found = await listKeys(db, { ...filter, limit: limit + 1 });
        showPage(output, found.map(shown), { limit, columns });
      }),
    );

  key
    .command('show <key>')
    .description('Show one key and its company, by its id or by the key itself')
    .action((idOrKey: string) =>
      asOperator(session, async ({ db, output }) => {
        output.record(shown((await findKey(db, idOrKey)) ?? unknownKey()));
      }),
    );
}

function addEndCommands(key: Command, session: Session): void {
  const revoke = key
    .command('revoke <key>')
    .description('Revoke a key, by its id or by the key itself. Every process rejects it within 10 seconds')
    .action((idOrKey: string) =>
      asOperator(session, async ({ db, output }) => {
        const revoked = await audited(db, (tx) => revokeKey(tx, idOrKey), keyEntry('key.revoke'));
        output.record(shown(revoked ?? unknownKey()));
      }),
    );
  examples(revoke, 'key revoke 0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55');

  const expire = key
    .command('expire <key>')
    .description('Set the end of a key, by its id or by the key itself')
    .requiredOption('--at <date>', 'a date (midnight UTC), a timestamp, or never', (text) =>
      text === 'never' ? text : moment(text),
    )
    .action((idOrKey: string, { at }: { at: Date | 'never' }) =>
      asOperator(session, async ({ db, output }) => {
        const { id, revokedAt } = (await findKey(db, idOrKey)) ?? unknownKey();
        if (revokedAt !== null) throw new UsageError('This key is revoked, and that is for good.');
        const expiring = await audited(
          db,
          (tx) => setKeyExpiry(tx, id, at === 'never' ? null : at),
          keyEntry('key.expire', { at }),
        );
        output.record(shown(expiring ?? unknownKey()));
      }),
    );
  examples(expire, 'key expire 0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55 --at 2027-12-31');
}

/** The seconds of each overlap. */
const overlaps = { '0': 0, '1h': 3_600, '24h': 86_400, '7d': 604_800 } as const;

function addRotateCommand(key: Command, session: Session): void {
  const rotate = key
    .command('rotate <key>')
    .description('Create a key like this one, and print it. The old key ends after the overlap')
    .addOption(
      new Option('--overlap <time>', 'how long both keys are valid')
        .choices(Object.keys(overlaps))
        .makeOptionMandatory(),
    )
    .action((idOrKey: string, { overlap }: { overlap: keyof typeof overlaps }) =>
      asOperator(session, async ({ config, db, output }) => {
        const made = await audited(
          db,
          async (tx) => rotated(await rotateKey(tx, config.KEY_ENVIRONMENT, idOrKey, overlaps[overlap])),
          ({ old, record }) => ({
            action: 'key.rotate',
            companyId: old.companyId,
            subject: old.id,
            details: { overlap, successor: record.id },
          }),
        );
        showNew(output, config, made);
        output.say(`The old key ${made.old.id} ends at ${made.old.expiresAt?.toISOString()}.`);
      }),
    );
  examples(rotate, 'key rotate 0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55 --overlap 24h');
}

function rotated<T extends object>(result: T | 'unknown' | 'revoked' | 'expired'): T {
  if (typeof result === 'object') return result;
  if (result === 'unknown') return unknownKey();
  throw new UsageError(`This key is ${result}. Create a new one with: tallystick key create`);
}

type LimitOptions = RateOptions & { default?: true };

function addLimitCommand(key: Command, session: Session): void {
  const limit = key
    .command('limit <key>')
    .description('Set the rate limit of a key, or reset it to the default of the service')
    .option('--default', 'reset to the default of the service');
  withRateOptions(limit).action((idOrKey: string, options: LimitOptions) =>
    asOperator(session, async ({ db, output }) => {
      const rateLimit = rateLimitOf(options);
      if ((rateLimit === undefined) === (options.default === undefined)) {
        throw new UsageError('Give either --rate or --default.');
      }
      const limited = await audited(
        db,
        (tx) => setKeyRateLimit(tx, idOrKey, rateLimit ?? null),
        keyEntry('key.limit', { rateLimit: rateLimit ?? null }),
      );
      output.record(shown(limited ?? unknownKey()));
    }),
  );
  examples(
    limit,
    'key limit 0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55 --rate 500 --burst 1000',
    'key limit 0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55 --default',
  );
}

type ScopeOptions = { scope?: Scope[]; all?: true };

function addScopeCommand(key: Command, session: Session): void {
  const scope = key
    .command('scope <key>')
    .description(
      'Set the scopes of a key, by its id or by the key itself. Every process knows within 10 seconds',
    )
    .option('--scope <scope>', `a scope, repeatable: ${scopes.join(', ')}`, severalScopes)
    .option('--all', 'let the key do everything of its company')
    .action((idOrKey: string, { scope: limits, all }: ScopeOptions) =>
      asOperator(session, async ({ config, db, output }) => {
        if ((limits === undefined) === (all === undefined)) {
          throw new UsageError('Give either --scope or --all.');
        }
        if (config.KEY_VERIFIER === 'remote') {
          const service = services[config.AUTH_DIALECT];
          throw new UsageError(
            `KEY_VERIFIER is remote: the permissions of a key in ${service} are its scopes. Change them there.`,
          );
        }
        const { id, revokedAt, eventId } = (await findKey(db, idOrKey)) ?? unknownKey();
        if (revokedAt !== null) throw new UsageError('This key is revoked, and that is for good.');
        if (eventId !== null) throw new UsageError(`A key for one event has the scope ${eventScope} only.`);
        const changed = await audited(
          db,
          (tx) => setKeyScopes(tx, id, limits ?? null),
          keyEntry('key.scope', { scopes: limits ?? null }),
        );
        output.record(shown(changed ?? unknownKey()));
      }),
    );
  examples(
    scope,
    'key scope 0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55 --scope events:read --scope rwa:read',
    'key scope 0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55 --all',
  );
}

const services = { 'better-auth': 'Better Auth', unkey: 'Unkey' } as const;

/** Collects the scopes of a repeatable option, each once. */
function severalScopes(text: string, earlier: readonly Scope[] = []): Scope[] {
  if (!isScope(text)) throw new InvalidArgumentError(`The scopes are ${scopes.join(', ')}.`);
  return [...new Set([...earlier, text])];
}

/** Returns the entry of a change of a key; none when there is no such key. */
const keyEntry =
  (action: string, details: Readonly<Record<string, unknown>> = {}) =>
  (key: ApiKey | undefined) =>
    key && { action, companyId: key.companyId, subject: key.id, details };

/** Prints a new key, which cannot be shown again. */
function showNew(output: Output, config: Config, { key, record }: { key: string; record: ApiKey }): void {
  output.record({ ...shown(record), key });
  output.say('Keep the key now: it is stored as a hash only.');
  if (config.KEY_VERIFIER === 'remote') {
    output.say('KEY_VERIFIER is remote: a service with these settings does not accept this key.');
  }
}

const shown = (key: ApiKey) => ({ ...key, state: stateOf(key, new Date()) });

function stateOf({ revokedAt, expiresAt }: ApiKey, now: Date): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

function unknownKey(): never {
  throw new UsageError('There is no such key. List them with: tallystick key list');
}

type RateOptions = { rate?: number; burst?: number };

const withRateOptions = (command: Command) =>
  command
    .option(
      '--rate <n>',
      "average requests a second; the service's default otherwise",
      wholeNumber(1, 1_000_000),
    )
    .option(
      '--burst <n>',
      'concurrent requests, not below --rate; twice --rate by default',
      wholeNumber(1, 2_000_000),
    );

/** @returns undefined when no limit was given */
function rateLimitOf({ rate, burst }: RateOptions): KeyRateLimit | undefined {
  if (rate === undefined && burst !== undefined) throw new UsageError('--burst needs --rate.');
  if (rate === undefined) return undefined;
  if (burst !== undefined && burst < rate) throw new UsageError('--burst must not be below --rate.');
  return { perSecond: rate, burst: burst ?? rate * 2 };
}
