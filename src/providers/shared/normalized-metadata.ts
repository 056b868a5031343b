import { z } from 'zod';
import { isTooDeep } from './kept-metadata.ts';
import { listField, optionalNumber, optionalText } from './optional-fields.ts';

// The contract's author wrote it, so a value of an unexpected type must not fail the answer.
const attribute = z.object({
  trait_type: optionalText,
  value: z.unknown().transform((value) => (isTooDeep(value) ? null : value)),
  display_type: optionalText,
  max_value: optionalNumber,
  trait_count: optionalNumber,
  order: optionalNumber,
});

/**
 * Returns a token's metadata in the uniform shape of the contract (`normalized_metadata`), for any provider. Null or
 * undefined when there is none, or when it is no object.
 */
export const normalizedMetadata = z
  .object({
    name: optionalText,
    description: optionalText,
    image: optionalText,
    external_link: optionalText,
    external_url: optionalText,
    animation_url: optionalText,
    attributes: z.exactOptional(listField(attribute).nullable().catch(null)),
  })
  .nullish()
  .catch(null);
