import { parseIsoDate } from '../base/iso-date.ts';
import type { InputError } from '../base/problem.ts';
import type { components } from '../contract/generated/events.ts';
import { nameFault } from '../contract/visible-text.ts';
import { currencyFault } from './currencies.ts';
import type { EventFields } from './event.ts';

type EventBody = components['schemas']['UpdateEventRequest'];

type Parsed = {
  readonly startDate: Date | null | undefined;
  readonly endDate: Date | null | undefined;
  readonly chainId: string | null | undefined;
};

/** The fields of an event that a request sets: undefined keeps the value, null clears it. */
export type EventChanges = Omit<EventBody, keyof Parsed> & Parsed;

/** Parses a body that fits the contract, and checks what a pattern cannot: names, dates, currencies, URLs. */
export function readChanges(body: EventBody): { changes: EventChanges; faults: InputError[] } {
  const faults: InputError[] = [];
  const fault = (pointer: string, message: string) => faults.push({ in: 'body', pointer, message });

  const instant = (field: 'startDate' | 'endDate') => {
    const sent = body[field];
    if (sent === undefined || sent === null) return sent;
    const parsed = parseIsoDate(sent);
    if (parsed === undefined) fault(`/${field}`, instantMessage(field));
    return parsed;
  };
  const checkUrl = (field: string, pointer: string, url: string) => {
    if (!URL.canParse(url)) fault(pointer, `${field} must be a URL such as https://example.com/image.png`);
  };

  const name = body.name?.trim();
  const nameMessage = name === undefined ? undefined : nameFault(name);
  if (nameMessage !== undefined) fault('/name', `name ${nameMessage}`);
  const startDate = instant('startDate');
  const endDate = instant('endDate');
  const currencyMessage = currencyFault(body.currency ?? '');
  if (currencyMessage !== undefined) fault('/currency', currencyMessage);
  if (typeof body.coverImage === 'string') checkUrl('coverImage', '/coverImage', body.coverImage);
  for (const [index, url] of (body.galleryImages ?? []).entries())
    checkUrl(`galleryImages/${index}`, `/galleryImages/${index}`, url);

  const chainId = typeof body.chainId === 'number' ? String(body.chainId) : body.chainId;
  return { changes: { ...body, ...(name !== undefined && { name }), startDate, endDate, chainId }, faults };
}

/** The message about a date that {@link parseIsoDate} rejects. */
export function instantMessage(name: string): string {
  return `${name} must be an RFC 3339 date or date-time that the calendar has, such as 2027-05-04T09:00:00Z`;
}

/** The fields of an event after the changes. */
export function applyChanges(base: EventFields, changes: EventChanges): EventFields {
  return {
    name: changes.name ?? base.name,
    location: sentOr(changes.location, base.location),
    description: sentOr(changes.description, base.description),
    program: sentOr(changes.program, base.program),
    startDate: sentOr(changes.startDate, base.startDate),
    endDate: sentOr(changes.endDate, base.endDate),
    maxAttendees: sentOr(changes.maxAttendees, base.maxAttendees),
    price: sentOr(changes.price, base.price),
    currency: sentOr(changes.currency, base.currency),
    discountPrice: sentOr(changes.discountPrice, base.discountPrice),
    discountPercentage: sentOr(changes.discountPercentage, base.discountPercentage),
    contractRequiredToAttend: sentOr(changes.contractRequiredToAttend, base.contractRequiredToAttend) ?? [],
    contractRequiredToDiscount:
      sentOr(changes.contractRequiredToDiscount, base.contractRequiredToDiscount) ?? [],
    requireAll: sentOr(changes.requireAll, base.requireAll) ?? false,
    minimumBalance: sentOr(changes.minimumBalance, base.minimumBalance) ?? '1',
    proofRequired: sentOr(changes.proofRequired, base.proofRequired) ?? false,
    oneAdmissionPerToken: sentOr(changes.oneAdmissionPerToken, base.oneAdmissionPerToken) ?? false,
    recheckAtCheckin: sentOr(changes.recheckAtCheckin, base.recheckAtCheckin) ?? false,
    ticketsOnly: sentOr(changes.ticketsOnly, base.ticketsOnly) ?? false,
    labelOnTickets: sentOr(changes.labelOnTickets, base.labelOnTickets) ?? false,
    coverImage: sentOr(changes.coverImage, base.coverImage),
    galleryImages: sentOr(changes.galleryImages, base.galleryImages) ?? [],
    chainId: sentOr(changes.chainId, base.chainId),
  };
}

/** The fields of an event, without the rest of its record. */
export function eventFields(event: EventFields): EventFields {
  return applyChanges(event, { startDate: undefined, endDate: undefined, chainId: undefined });
}

/** The fields of a new event of which only the name is set. */
export function namedOnly(name: string): EventFields {
  return {
    name,
    location: null,
    description: null,
    program: null,
    startDate: null,
    endDate: null,
    maxAttendees: null,
    price: null,
    currency: null,
    discountPrice: null,
    discountPercentage: null,
    contractRequiredToAttend: [],
    contractRequiredToDiscount: [],
    requireAll: false,
    minimumBalance: '1',
    proofRequired: false,
    oneAdmissionPerToken: false,
    recheckAtCheckin: false,
    ticketsOnly: false,
    labelOnTickets: false,
    coverImage: null,
    galleryImages: [],
    chainId: null,
  };
}

function sentOr<S, K>(sent: S | undefined, kept: K): S | K {
  return sent === undefined ? kept : sent;
}
