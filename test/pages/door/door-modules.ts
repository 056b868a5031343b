import { randomBytes } from 'node:crypto';
import { createTickets, type Tickets } from '../../../src/events/checkin/tickets.ts';
import { pageModule } from '../page-modules.ts';

export type ReadTicket = {
  readonly kid: string;
  readonly eventId: string;
  readonly attendeeId: string;
  readonly ticketId: string;
  readonly expiresAt: number;
  readonly label: string | undefined;
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
};
export type Jwk = { readonly kty: string; readonly crv: string; readonly x: string; readonly kid: string };

/** A scan as the page stores it. */
export type Scan = {
  readonly scanId: string;
  readonly eventId: string;
  readonly kind: 'entry' | 'exit' | 'undo';
  readonly at: string;
  readonly gate: string;
  readonly attendeeId: string;
  readonly label?: string | undefined;
  readonly ticket?: string | undefined;
  readonly typed?: string | undefined;
  readonly undoes?: string | undefined;
  readonly waits?: 1 | undefined;
  readonly isProvisional?: boolean | undefined;
  readonly isUndone?: boolean | undefined;
  readonly refused?: string | undefined;
  readonly answer?: Answer | undefined;
};
export type Answer = {
  readonly status: string;
  readonly checkedInAt: string | null;
  readonly gate: string | null;
  readonly inside: boolean | null;
};
export type SentScan = {
  readonly scanId: string;
  readonly kind: string;
  readonly at: string;
  readonly gate?: string;
  readonly ticket?: string;
  readonly attendeeId?: string;
  readonly undoes?: string;
};
type First = { readonly at: string; readonly gate: string | null } | undefined;

export const { findTicket, readTicket } = (await pageModule('shared/ticket.js')) as {
  findTicket(scanned: string): string | undefined;
  readTicket(text: string): ReadTicket | undefined;
};
export const { checkSignature } = (await pageModule('door/signature.js')) as {
  checkSignature(ticket: ReadTicket, keys: readonly Jwk[], subtle?: unknown): Promise<string>;
};
type Known = {
  readonly eventId: string;
  readonly signature: string;
  readonly isRevoked: boolean;
  readonly now: number;
};
export const { judgeTicket, foldScans, localStatus } = (await pageModule('door/verdict.js')) as {
  judgeTicket(ticket: ReadTicket | undefined, known: Known): string;
  foldScans(scans: readonly Scan[]): { isInside: boolean; first: First };
  localStatus(kind: string, before: { isInside: boolean }): string;
};

export const eventId = 'c49474ee-216a-455c-bbe2-986fc09a5b48';
type Ticket = Parameters<Tickets['sign']>[0];

export const tickets = createTickets(new Map([['one', randomBytes(32)]]));

/** A ticket of the event, signed by the service. */
export const ticketOf = (more: Partial<Ticket> = {}, signer = tickets): Promise<string> =>
  signer.sign({
    eventId,
    attendeeId: 'user-7421',
    ticketId: '17',
    expiresAt: new Date('2027-09-21T00:00:00Z'),
    label: null,
    ...more,
  });
