import { z } from 'zod';
import { commaList, httpUrl, wholeSetting } from './setting-forms.ts';
import { tokenListFile } from './token-list.ts';

/** Settings of where the history of networks comes from: the hosted provider and the own index. */
export const historySettings = {
  MORALIS_API_KEY: {
    schema: z
      .string()
      .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
      .optional(),
    about: 'Key of the account at the hosted data provider. Needed for networks with the provider `moralis`.',
    secret: true,
  },
  MORALIS_BASE_URL: {
    schema: httpUrl
      .refine((url) => new URL(url).username === '', 'must not carry a user: use MORALIS_API_KEY')
      .default('https://deep-index.moralis.io/api/v2.2'),
    about: 'Address of the hosted data provider, with its version.',
  },
  MORALIS_CONCURRENCY: {
    schema: wholeSetting(1, 1_000).default(10),
    about: 'Requests to the hosted data provider that this process sends concurrently. Further ones wait.',
  },
  INDEX_POLL_MS: {
    schema: wholeSetting(50, 600_000).default(1_000),
    about:
      'Index: time between two polls of a node that has no new block. Raise it where each question to a node is paid for.',
  },
  INDEX_PARALLEL: {
    schema: wholeSetting(1, 200).default(8),
    about: 'Index: blocks of a network that are requested concurrently.',
  },
  INDEX_READY_LAG: {
    schema: wholeSetting(0, 1_000_000_000).optional(),
    about:
      'Index: blocks that an index may be behind its node. Beyond it, `/readyz` names the index, and a process without the role `api` is not ready. Without this setting `/readyz` ignores indexes.',
  },
  INDEX_IPFS_GATEWAY: {
    schema: httpUrl.default('https://ipfs.io/ipfs'),
    about: 'Index: gateway for metadata of `ipfs:` addresses. Their path is appended.',
  },
  INDEX_TOKEN_LIST: {
    schema: tokenListFile.optional(),
    about:
      'Index: file with a token list ([tokenlists.org](https://tokenlists.org)). Its tokens are `verified_contract`; others that imitate their symbols count as spam. Read at the start.',
  },
  INDEX_METADATA_HOSTS: {
    schema: commaList(
      z
        .string()
        .toLowerCase()
        .regex(/^[a-z0-9.[\]:-]+$/, 'must be a comma-separated list of host[:port]'),
    ).optional(),
    about:
      'Index: hosts, `host[:port]`, that NFT metadata may be fetched from although they are private or use plain http.',
  },
} as const;
