import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { registerAttendee } from '../../events/attendee-store.ts';
import type { EventFields } from '../../events/event.ts';
import { namedOnly } from '../../events/event-fields.ts';
import { insertEvent } from '../../events/event-store.ts';

type SampleEvent = {
  readonly name: string;
  /** Days from now to its start, and hours from there to its end. */
  readonly inDays: number;
  readonly hours: number;
  readonly fields: Partial<EventFields>;
  readonly attendees: number;
};

export type SampleVenue = { readonly companyId: string; readonly chainId: string; readonly gate: string };

/** Events of a company: past, soon, free, full, and one for holders of an NFT contract (`gate`). */
export async function addEvents(
  db: Database,
  where: SampleVenue,
  samples: readonly SampleEvent[],
  now: Date,
): Promise<void> {
  const { companyId } = where;
  for (const sample of samples) {
    await inTransaction(db, async (tx) => {
      const { id } = await insertEvent(tx, companyId, fieldsOf(sample, where, now));
      for (let i = 1; i <= sample.attendees; i += 1) {
        const attendeeId = `user_${String(i).padStart(4, '0')}`;
        await registerAttendee(tx, { companyId, eventId: id, attendeeId });
      }
    });
  }
}

function fieldsOf({ name, inDays, hours, fields }: SampleEvent, where: SampleVenue, now: Date): EventFields {
  const day = new Date(now);
  day.setUTCDate(day.getUTCDate() + inDays);
  day.setUTCHours(17, 0, 0, 0);
  const gated = fields.contractRequiredToAttend !== undefined;
  return {
    ...namedOnly(name),
    startDate: day,
    endDate: new Date(day.getTime() + hours * 3_600_000),
    ...fields,
    ...(gated && { chainId: where.chainId, contractRequiredToAttend: [where.gate] }),
  };
}

export const acmeEvents: readonly SampleEvent[] = [
  {
    name: 'Harvest tasting 2026',
    inDays: -21,
    hours: 4,
    fields: { location: 'Cellar 3, Haro', description: 'First look at the new vintage.', maxAttendees: 12 },
    attendees: 9,
  },
  {
    name: 'Cask owners evening',
    inDays: 14,
    hours: 5,
    fields: {
      location: 'Old Bonded Warehouse, Edinburgh',
      description: 'An evening for those who own a cask.',
      program: '18:00 welcome\n19:00 tasting\n21:00 questions',
      maxAttendees: 40,
      price: 95,
      currency: 'GBP',
      discountPrice: 75,
      contractRequiredToAttend: [],
      coverImage: 'https://images.example/casks.jpg',
      galleryImages: ['https://images.example/casks-1.jpg', 'https://images.example/casks-2.jpg'],
    },
    attendees: 6,
  },
  {
    name: 'Cooperage workshop',
    inDays: 30,
    hours: 3,
    fields: { location: 'Workshop, Speyside', maxAttendees: 5, price: 49.5, currency: 'GBP' },
    attendees: 5,
  },
  { name: 'Open day', inDays: 60, hours: 8, fields: { description: 'Come and see.' }, attendees: 2 },
];

export const globexEvents: readonly SampleEvent[] = [
  {
    name: 'Solar park site visit',
    inDays: 7,
    hours: 6,
    fields: { location: 'Évora', description: 'Bus leaves at 09:00.', maxAttendees: 30 },
    attendees: 11,
  },
  {
    name: 'Tokenised property summit',
    inDays: 45,
    hours: 9,
    fields: {
      location: 'Lisbon Congress Centre',
      program: 'Keynotes in the morning, workshops after lunch.',
      maxAttendees: 500,
      price: 350,
      currency: 'EUR',
      discountPercentage: 20,
      contractRequiredToAttend: [],
    },
    attendees: 14,
  },
];
