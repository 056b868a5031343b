import { describe, expectTypeOf, test } from 'vitest';
import type { components, operations } from '../../src/contract/generated/events.ts';
import type { CompanyContext, Handlers } from '../../src/contract/operation.ts';

type EventsHandlers = Handlers<operations, CompanyContext>;
type Replying<T> = Omit<EventsHandlers, 'getEvent'> & { getEvent: () => Promise<T> };
type Event = components['schemas']['Event'];

// The compiler judges these when it checks the tests (npm run check -- types): each line is an error if the
// type lets the mistake through.
describe('the type of an area’s handlers', () => {
  test('takes a documented reply', () => {
    expectTypeOf<Replying<{ status: 200; body: Event }>>().toExtend<EventsHandlers>();
  });

  test('wants every operation', () => {
    expectTypeOf<Omit<EventsHandlers, 'getEvent'>>().not.toExtend<EventsHandlers>();
  });

  test('knows no other operation', () => {
    expectTypeOf<EventsHandlers>().not.toHaveProperty('summariseEvents');
    expectTypeOf<keyof EventsHandlers>().toEqualTypeOf<keyof operations>();
  });

  test('refuses a status that the document lacks', () => {
    expectTypeOf<Replying<{ status: 202; body: Event }>>().not.toExtend<EventsHandlers>();
    expectTypeOf<Replying<{ status: 204 }>>().not.toExtend<EventsHandlers>();
  });

  test('refuses a body of another shape, and a body that lacks a field', () => {
    expectTypeOf<Replying<{ status: 200; body: { id: number } }>>().not.toExtend<EventsHandlers>();
    expectTypeOf<
      Replying<{ status: 200; body: Omit<Event, 'totalAttendees'> }>
    >().not.toExtend<EventsHandlers>();
  });
});
