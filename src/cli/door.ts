import type { Command } from 'commander';
import encodeQr from 'qr';
import { eventScope } from '../contract/scopes.ts';
import type { Database } from '../contract/transaction.ts';
import type { EventRecord } from '../events/event.ts';
import { findCompanyOfEvent, findEvent } from '../events/event-store.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { issueAuditedKey } from './shared/new-key.ts';
import { asOperator, type Operator, type Session } from './shared/session.ts';
import { isLoopback, isUuid, moment, visibleWords } from './shared/values.ts';

export function addDoorCommands(program: Command, session: Session): void {
  const door = program.command('door').description('Let people scan tickets at the door of an event');
  const link = door
    .command('link')
    .description(
      'Create a key for a phone at the door, and print the link of the page with it, also as a QR code',
    )
    .requiredOption('--event <id>', 'the event')
    .option(
      '--expires <date>',
      'end of the link: a date (midnight UTC) or a timestamp; by default a week after the event, or 30 days from now',
      moment,
    )
    .option(
      '--gate <name>',
      'name of the gate, which the person at the door can change',
      visibleWords(mostOfGate),
    )
    .action((options: LinkOptions) => asOperator(session, (operator) => makeLink(operator, options)));
  examples(
    link,
    'door link --event c49474ee-216a-455c-bbe2-986fc09a5b48',
    'door link --event c49474ee-216a-455c-bbe2-986fc09a5b48 --gate North --expires 2027-09-20',
  );
}

// As long as the gate of a scan may be.
const mostOfGate = 64;

type LinkOptions = { event: string; expires?: Date; gate?: string };

async function makeLink({ config, db, output }: Operator, options: LinkOptions): Promise<void> {
  const { event: id, expires, gate } = options;
  const event = isUuid(id) ? await findEventOfAny(db, id.toLowerCase()) : undefined;
  if (event === undefined)
    throw new UsageError(`There is no event ${id}. GET /event lists events with their ids.`);
  if (config.KEY_VERIFIER === 'remote') {
    throw new UsageError(
      'KEY_VERIFIER is remote, so the service accepts no keys of this command. Create a key there.',
    );
  }
  const expiresAt = expires ?? usualEnd(event);
  if (expiresAt <= new Date()) throw new UsageError('The link would end in the past: set --expires.');
  const { companyId, name, id: eventId } = event;
  const label = `door of ${name}`.slice(0, 255);
  const given = { companyId, label, expiresAt, scopes: [eventScope], eventId };
  const { key, record } = await issueAuditedKey({ config, db }, given);
  const url = doorUrl(config.publicBaseUrl, { key, eventId: event.id, gate });
  output.record({
    eventId: event.id,
    eventName: event.name,
    keyId: record.id,
    expiresAt,
    gate: gate ?? null,
    url,
  });
  if (!output.json) output.say(encodeQr(url, 'ascii', { ecc: 'low' }));
  output.say('Whoever has the link can check guests in. To withdraw it:');
  output.say(`tallystick key revoke ${record.id}`);
  if (isLoopback(url)) output.say('Only this machine reaches the link: set PUBLIC_BASE_URL.');
}

const dayMs = 86_400_000;

/** A phone without a connection may send its scans for a week. */
const usualEnd = ({ endDate }: EventRecord): Date =>
  endDate === null ? new Date(Date.now() + 30 * dayMs) : new Date(endDate.getTime() + 7 * dayMs);

/** Finds an event of any company. */
async function findEventOfAny(db: Database, id: string): Promise<EventRecord | undefined> {
  const companyId = await findCompanyOfEvent(db, id);
  return companyId === undefined ? undefined : findEvent(db, companyId, id);
}

type DoorLink = { readonly key: string; readonly eventId: string; readonly gate: string | undefined };

/** The link of the page at the door. The fragment has the key, and browsers send it to nobody. */
function doorUrl(base: string, { key, eventId, gate }: DoorLink): string {
  const ofGate = gate === undefined ? '' : `&gate=${encodeURIComponent(gate)}`;
  return `${base}/door#k=${encodeURIComponent(key)}&e=${eventId}${ofGate}`;
}
