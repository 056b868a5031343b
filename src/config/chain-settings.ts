import { z } from 'zod';
import { signerList, wholeSetting } from './setting-forms.ts';

/** Settings of questions to nodes, and of minting. */
export const chainSettings = {
  RPC_TIMEOUT_MS: {
    schema: wholeSetting(100, 120_000).default(5_000),
    about: "Time for one answer of a network's node.",
  },
  RPC_FINALITY_NODES: {
    schema: wholeSetting(1, 100).optional(),
    about:
      'Nodes of a network that must agree before minting counts a block as final. The default is 1 for a network with one node, otherwise 2. With fewer usable nodes nothing becomes final.',
  },
  MINT_SIGNERS: {
    schema: signerList.optional(),
    about:
      'Signers of mints, separated by commas: `chainId=keystore:path` for an encrypted keystore file, `chainId=kms:arn` for a key in AWS KMS.',
  },
  MINT_KEYSTORE_PASSWORD_FILE: {
    schema: z.string().min(1).optional(),
    about: 'File with the password of the keystores.',
  },
  MINT_MAX_FEE_GWEI: {
    schema: wholeSetting(1, 1_000_000).default(500),
    about:
      'Highest price of a unit of gas, on all networks. Above it minting pauses, and `contract` commands send nothing. The least tip belongs to a network: `tallystick network update --min-tip`.',
  },
  MINT_MAX_IN_FLIGHT: {
    schema: wholeSetting(1, 16).default(16),
    about: 'Transactions without a block that a signer may have. Nodes are only sure to keep 16.',
  },
  MINT_BLOCK_SHARE_PERCENT: {
    schema: wholeSetting(1, 100).default(50),
    about: "Share of a block's gas that one transaction may use.",
  },
  MINT_STUCK_BLOCKS: {
    schema: wholeSetting(1, 10_000).default(5),
    about: 'Blocks without a transaction after which its fees are raised.',
  },
  MINT_REFRESH_SECONDS: {
    schema: wholeSetting(0, 86_400).default(300),
    about:
      'Time without a further change of the metadata of an RWA after which a signer reports the change to marketplaces (ERC-4906). Caches keep metadata for 300 seconds. 0 reports none.',
  },
  OWNERSHIP_POLL_SECONDS: {
    schema: wholeSetting(1, 3_600).default(12),
    about:
      'Time between two polls of a network for transfers of its NFTs. Raise it where each question to a node is paid for.',
  },
  SNAPSHOT_HOLDERS_PER_COMPANY: {
    schema: wholeSetting(1, 1_000_000_000).default(1_000_000),
    about:
      'Holders that all snapshots of a company may store together. A holder takes some 2 kB of the database. Over it, the company deletes old snapshots first. `purge-expired` erases the holders of deleted snapshots.',
  },
} as const;
