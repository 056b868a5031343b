/** Which events to list: those whose start lies between both ends, which are included. */
export type EventFilter = {
  readonly startsFrom?: Date | undefined;
  readonly startsTo?: Date | undefined;
};

/** The place of an event in the list: by creation, then id. */
export type EventPlace = { readonly createdMicros: bigint; readonly id: string };

// Before every event, in a time that the server knows.
export const beginning: EventPlace = {
  createdMicros: 1n << 61n,
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};
