import { z } from 'zod';
import { commaList, httpUrl, origin, proxy, wholeSetting } from './setting-forms.ts';

/** Settings of callers: API keys and the service that verifies them, limits, proxies. */
export const callerSettings = {
  KEY_VERIFIER: {
    schema: z.enum(['postgres', 'remote']).default('postgres'),
    about: 'Who verifies API keys: our own key store, or a remote authentication service.',
  },
  KEY_ENVIRONMENT: {
    schema: z
      .string()
      .regex(/^[a-z]{2,10}$/, 'must be 2 to 10 lower-case letters')
      .default('live'),
    about: 'The middle of a key, `tk_<environment>_…`; keys of another environment are rejected.',
  },
  AUTH_URL: {
    schema: httpUrl
      .refine(
        (url) => new URL(url).username === '' && new URL(url).password === '',
        'must carry no user or password; use AUTH_CREDENTIAL',
      )
      .optional(),
    about: 'Remote verifier: the URL that keys are posted to.',
  },
  AUTH_CREDENTIAL: {
    schema: z.string().min(1).optional(),
    about: "Remote verifier: the service's own credential, sent as a bearer token.",
    secret: true,
  },
  AUTH_DIALECT: {
    schema: z.enum(['better-auth', 'unkey']).default('better-auth'),
    about: 'Remote verifier: the shape of its answers.',
  },
  RATE_LIMIT_PER_SECOND: {
    schema: wholeSetting(0, 1_000_000).default(100),
    about: 'Requests a second that a key may make on average; 0 means no limit.',
  },
  RATE_LIMIT_BURST: {
    schema: wholeSetting(1, 2_000_000).default(200),
    about: 'Requests that a key may make at once.',
  },
  PUBLIC_REQUESTS_PER_MINUTE: {
    schema: wholeSetting(0, 1_000_000).default(1_200),
    about:
      'Requests without a key (token metadata, claims) that an address may send in a minute. Beyond it they are 429. 0 means no limit.',
  },
  BROWSER_ORIGINS: {
    schema: commaList(origin).optional(),
    about:
      'Origins of pages that may read blockchain data with a key for browsers (`key create --browser`), separated by commas, such as `https://app.example`. Without it no page may (CORS).',
  },
  TRUSTED_PROXIES: {
    schema: commaList(proxy).optional(),
    about:
      "Proxies in front of this service, as addresses or networks (`10.0.0.0/8`, `loopback`), separated by commas. The service takes a caller's address (`X-Forwarded-For`) and trace (`traceparent`) from them. An entry that is no address counts as the proxy's own.",
  },
} as const;
