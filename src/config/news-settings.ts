import { z } from 'zod';
import { wholeSetting } from './setting-forms.ts';

/** Settings of news and of the endpoints that they are sent to. */
export const newsSettings = {
  NEWS_KEEP_DAYS: {
    schema: wholeSetting(7, 3_650).default(30),
    about:
      'Days after which news are deleted from the feed with their deliveries. What an enabled endpoint has not taken stays.',
  },
  WEBHOOK_HOSTS: {
    schema: z
      .string()
      .transform((text) => text.split(',').map((item) => item.trim().toLowerCase()))
      .pipe(
        z.array(
          z.string().regex(/^[^\s/@]+$/, 'must be hosts, such as `receiver.internal` or `127.0.0.1:8080`'),
        ),
      )
      .optional(),
    about:
      'Hosts that endpoints may have although they are not public or not https, as `host` or `host:port`, separated by commas.',
  },
} as const;
