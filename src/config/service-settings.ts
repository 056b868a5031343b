import { z } from 'zod';
import { commaList, databaseUrl, httpUrl, keyRing, listSetting, wholeSetting } from './setting-forms.ts';

export const areas = ['blockchain', 'events', 'rwa', 'claim', 'news'] as const;
export type Area = (typeof areas)[number];

export const roles = ['api', 'worker', 'indexer'] as const;

/** Settings of a process: where it listens, what it does, and how much it admits at once. */
export const serviceSettings = {
  HOST: { schema: z.string().min(1).default('0.0.0.0'), about: 'Address to listen on.' },
  PORT: { schema: wholeSetting(0, 65_535).default(3000), about: 'Port to listen on; 0 picks a free one.' },
  OPERATIONS_PORT: {
    schema: wholeSetting(0, 65_535).optional(),
    about:
      'Port of a listener for operators in every role, with `/healthz`, `/readyz` and `/metrics`. 0 picks a free port. Without this setting there is no such listener.',
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
      'Claim page of companies and RWAs without a page of their own. The default is the page of this service, `PUBLIC_BASE_URL/claim`.',
  },
  PROOF_DOMAIN: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$/, 'must be a host, or a host and a port')
      .optional(),
    about:
      'Host that wallets show when an attendee signs the challenge of an event. Set it to the host of the page where attendees sign. The default is the host of `PUBLIC_BASE_URL`.',
  },
  OPERATOR_NAME: {
    schema: z
      .string()
      .regex(/^\p{L}[\p{L}\p{N} .,()-]{0,99}$/u, 'must be letters, digits, spaces and .,()- only')
      .default('Tallystick'),
    about: 'Who runs this service, for the portal and the OpenAPI documents.',
  },
  SUPPORT_URL: {
    schema: z
      .string()
      .regex(/^(https?:\/\/|mailto:)[^\s"'<>`]+$/, 'must be an http, https or mailto address')
      .optional(),
    about:
      'Where callers and customers find help: an `https:` or `mailto:` address for portal, documents and the pages for customers, guests and doors. Without it the documents name the portal, and the pages name nothing.',
  },
  PORTAL_PAGES: {
    schema: z.enum(['all', 'partners']).default('all'),
    about:
      'Pages of the portal at `/docs`: `all`, or `partners` for guides, references and errors without the pages for operators and developers.',
  },
  WALLET_HELP_URL: {
    schema: z
      .string()
      .regex(/^https?:\/\/[^\s"'<>`]+$/, 'must be an http or https address')
      .optional(),
    about: 'Page for customers without a wallet. The claim page links to it.',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    about: 'Least severe level that is logged.',
  },
  DRAIN_SECONDS: {
    schema: wholeSetting(0, 300).default(5),
    about:
      'Time between not ready and closing the listener during a stop: how long load balancers take to notice. The process still answers requests, each with `Connection: close`.',
  },
  SHUTDOWN_SECONDS: {
    schema: wholeSetting(1, 300).default(30),
    about: 'Time that requests and jobs in progress get to finish during a stop.',
  },
} as const;

/** The keys of the service itself. */
export const keySettings = {
  SECRET_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that encrypt claim secrets, secrets of endpoints and addresses of nodes, separated by commas or lines. A key is `id:base64` of 32 bytes, or `id:kms:arn:base64` wrapped by AWS KMS. The first key encrypts, all decrypt. Tickets of events are signed with keys that follow from them. Needed for the areas `rwa`, `claim` and `news`, for tickets, and by workers that send news.',
    secret: true,
  },
  NODE_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that encrypt credentials in addresses of nodes, in the form of `SECRET_KEYS` and with other ids. Every process that asks nodes needs them. Without them `SECRET_KEYS` encrypt these credentials, and an indexer needs those.',
    secret: true,
  },
  CURSOR_KEYS: {
    schema: keyRing.optional(),
    about:
      'Keys that sign the cursors of lists, in the form of `SECRET_KEYS`, equal in all processes. The first key signs, all verify. Needed for the area `blockchain`.',
    secret: true,
  },
} as const;

export const databaseSettings = {
  DATABASE_URL: {
    schema: databaseUrl,
    about: 'PostgreSQL 15 or later: `postgres://user:password@host:port/database`.',
    secret: true,
  },
  DATABASE_SESSION_URL: {
    schema: databaseUrl.optional(),
    about:
      'The same database without the pooler, for what needs a session of its own. Set it when `DATABASE_URL` leads to PgBouncer in transaction mode.',
    secret: true,
  },
  DATABASE_REPLICA_URL: {
    schema: databaseUrl.optional(),
    about:
      'Role `api`: a streaming replica of the database, without a pooler, for the [reads that may lag](database.md#a-replica-for-reads). A start does not wait for it.',
    secret: true,
  },
  DATABASE_POOL_MAX: {
    schema: wholeSetting(1, 500).default(10),
    about: 'Most connections that this process opens to the database. It opens as many to the replica.',
  },
} as const;

/** Settings of news and of the endpoints that they are sent to. */
export const newsSettings = {
  NEWS_KEEP_DAYS: {
    schema: wholeSetting(7, 3_650).default(30),
    about:
      'Days after which news are deleted from the feed with their deliveries. What an enabled endpoint has not taken stays.',
  },
  WEBHOOK_HOSTS: {
    schema: commaList(
      z
        .string()
        .toLowerCase()
        .regex(/^[^\s/@]+$/, 'must be hosts, such as `receiver.internal` or `127.0.0.1:8080`'),
    ).optional(),
    about:
      'Hosts that endpoints may have although they are not public or not https, as `host` or `host:port`, separated by commas.',
  },
} as const;
