import { keyRing } from './setting-forms.ts';

/** The keys of the service itself. */
export const keySettings = {
  SECRET_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that encrypt claim secrets and the addresses of nodes: `id:base64` of 32 bytes, or `id:kms:arn:base64` wrapped by AWS KMS, separated by commas or lines. The first encrypts, all decrypt. Needed for the areas `rwa` and `claim`.',
    secret: true,
  },
  CURSOR_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that sign the cursors of lists: in the form of `SECRET_KEYS`, the same in all processes. The first signs, all verify. Needed for the area `blockchain`.',
    secret: true,
  },
} as const;
