import { z } from 'zod';

/** A text that our answers only have when the source has it. A value of another type becomes null. */
export const optionalText = z.exactOptional(z.string().nullable().catch(null));
/** A number that our answers only have when the source has it. A value of another type becomes null. */
export const optionalNumber = z.exactOptional(z.number().nullable().catch(null));

/** A list that is missing or null becomes an empty one. */
export const listField = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);
