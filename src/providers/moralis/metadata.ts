import { z } from 'zod';
import { listOf, optionalNumber, optionalText } from './fields.ts';

// Whoever deployed the contract wrote it, so a value of a strange type is worth no failure.
const attribute = z.object({
  trait_type: optionalText,
  value: z.unknown(),
  display_type: optionalText,
  max_value: optionalNumber,
  trait_count: optionalNumber,
  order: optionalNumber,
});

/** A token's metadata in the upstream's uniform shape; undefined when it has none. */
export const normalizedMetadata = z
  .object({
    name: optionalText,
    description: optionalText,
    image: optionalText,
    external_link: optionalText,
    external_url: optionalText,
    animation_url: optionalText,
    attributes: z.exactOptional(listOf(attribute).nullable().catch(null)),
  })
  .nullish()
  .catch(null);
