import { keyRing } from './setting-forms.ts';

/** The keys of the service itself. */
export const keySettings = {
  SECRET_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that encrypt claim secrets, secrets of endpoints and addresses of nodes, separated by commas or lines. A key is `id:base64` of 32 bytes, or `id:kms:arn:base64` wrapped by AWS KMS. The first key encrypts, all decrypt. Needed for the areas `rwa`, `claim` and `news`, and by workers that send news.',
    secret: true,
  },
  CURSOR_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that sign the cursors of lists, in the form of `SECRET_KEYS`, equal in all processes. The first key signs, all verify. Needed for the area `blockchain`.',
    secret: true,
  },
} as const;
