import { z } from 'zod';
import { httpUrl, listSetting, wholeSetting } from './setting-forms.ts';

export const areas = ['blockchain', 'events', 'rwa', 'claim'] as const;
export type Area = (typeof areas)[number];

export const roles = ['api', 'worker', 'indexer'] as const;

/** Settings of a process: where it listens, what it does, and how much it takes on at once. */
export const serviceSettings = {
  HOST: { schema: z.string().min(1).default('0.0.0.0'), about: 'Address to listen on.' },
  PORT: { schema: wholeSetting(0, 65_535).default(3000), about: 'Port to listen on; 0 picks a free one.' },
  MAX_CONNECTIONS: {
    schema: wholeSetting(1, 1_000_000).default(10_000),
    about:
      'Connections of callers in all; more are closed at once. Fewer where the process may not open so many files.',
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    schema: wholeSetting(1, 1_000_000).default(1_000),
    about:
      'Connections of callers from one address, of an IPv6 network (/64) together. Behind a proxy, whose address is that of all, raise it.',
  },
  MAX_WAIT_MS: {
    schema: wholeSetting(10, 10_000).default(1_000),
    about:
      'Time that a request waits for earlier ones of its company, or for a connection to the database; then it is 503 with `Retry-After`.',
  },
  MAX_LOOP_DELAY_MS: {
    schema: wholeSetting(1, 10_000).default(100),
    about:
      'Mean delay of the event loop in a second, above which a request that would have to wait is 503 with `Retry-After` at once.',
  },
  REQUEST_DEADLINE_SECONDS: {
    schema: wholeSetting(1, 600).default(15),
    about:
      'Time for an answer to be made; then it is 503, and the work for it ends, whatever else would be waited for. Above `MORALIS_DEADLINE_MS`, so that callers are told what was slow.',
  },
  MAX_ANSWERS_MB: {
    schema: wholeSetting(1, 100_000).default(128),
    about:
      'Megabytes of answers that callers have not read yet, over all connections, half of what is free for a company; beyond, a read is 503 with `Retry-After`.',
  },
  OPERATIONS_PORT: {
    schema: wholeSetting(0, 65_535).optional(),
    about:
      'Port of a listener for operators, with `/healthz`, `/readyz` and `/metrics`, in every role; 0 picks a free one. Without it there is none.',
  },
  OPERATIONS_HOST: {
    schema: z.string().min(1).default('127.0.0.1'),
    about: 'Address of the listener for operators. Whoever reaches it needs no key.',
  },
  AREAS: { schema: listSetting(areas).default([...areas]), about: 'Areas that this process serves.' },
  ROLES: { schema: listSetting(roles).default([...roles]), about: 'What this process does.' },
  PUBLIC_BASE_URL: {
    schema: httpUrl.optional(),
    about: 'Address under which callers reach this service; by default `http://localhost:PORT`.',
  },
  CLAIM_BASE_URL: {
    schema: httpUrl.optional(),
    about:
      'Claim page of companies and RWAs that have none of their own; by default the one of this service, `PUBLIC_BASE_URL/claim`.',
  },
  OPERATOR_NAME: {
    schema: z
      .string()
      .regex(/^\p{L}[\p{L}\p{N} .,()-]{0,99}$/u, 'must be letters, digits, spaces and .,()- only')
      .default('Tallystick'),
    about: 'Who runs this service, as the portal and the OpenAPI documents say it.',
  },
  SUPPORT_URL: {
    schema: z
      .string()
      .regex(/^(https?:\/\/|mailto:)[^\s"'<>`]+$/, 'must be an http, https or mailto address')
      .optional(),
    about:
      'Where callers find help, in the portal and the documents, and customers on the claim page: `https:` or `mailto:`. Without it the former name the portal, and the claim page names nothing.',
  },
  WALLET_HELP_URL: {
    schema: z
      .string()
      .regex(/^https?:\/\/[^\s"'<>`]+$/, 'must be an http or https address')
      .optional(),
    about:
      'Page for customers who have no wallet yet, which the claim page links; without it there is no link.',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    about: 'Least severe level that is logged.',
  },
  HSTS_SECONDS: {
    schema: wholeSetting(0, 63_072_000).default(0),
    about:
      'Time for which browsers are told to use nothing but https for this host (`Strict-Transport-Security`); 0 tells them nothing.',
  },
  DRAIN_SECONDS: {
    schema: wholeSetting(0, 300).default(5),
    about:
      'Time between not being ready and closing the listener when the process is told to stop: how long load balancers take to notice. Requests are answered meanwhile, each with `Connection: close`.',
  },
  SHUTDOWN_SECONDS: {
    schema: wholeSetting(1, 300).default(30),
    about: 'Time that requests and jobs in progress get to end when the process is told to stop.',
  },
} as const;
