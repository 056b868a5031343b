import { z } from 'zod';

/** Called with the name of each field that was repaired. */
export type OnRepair = (field: string) => void;

// Parsing does not wait, so that a repair belongs to the answer that is being read.
let noted: string[] = [];

/** Runs a parser, and reports the fields that it repaired. */
export function withRepairs<T>(onRepair: OnRepair, read: () => T): T {
  noted = [];
  try {
    return read();
  } finally {
    for (const field of noted.splice(0)) onRepair(field);
  }
}

/** The schema, with a value that does not fit replaced and the repair noted. */
export const repaired = <T extends z.ZodType>(field: string, schema: T, instead: z.output<T>) =>
  schema.catch(() => {
    noted.push(field);
    return instead;
  });

/** A list without the items that do not fit; each is noted by the first of its fields that does not. */
export const listOfFitting = <T extends z.ZodType>(field: string, item: T) =>
  z
    .array(z.unknown())
    .nullish()
    .transform((items) =>
      (items ?? []).flatMap((value): z.output<T>[] => {
        const parsed = item.safeParse(value);
        if (parsed.success) return [parsed.data];
        noted.push([field, ...(parsed.error.issues[0]?.path ?? []).slice(0, 1).map(String)].join('.'));
        return [];
      }),
    );
