import { listNetworks } from '../../chain/network-store.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import { isInClear } from '../../chain/rpc/client/node-address.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { listProcesses, type SeenProcess } from '../../db/records/process-store.ts';
import { countCompanies } from '../../keys/company-store.ts';
import { countActiveKeys } from '../../keys/key-store.ts';
import { assertEndpointKeysOpen } from '../../news/endpoints/endpoint-keys.ts';
import { createEndpointSecrets } from '../../news/endpoints/endpoint-secret.ts';
import { createClaimSecretVault } from '../../rwa/assets/claim-secret.ts';
import { assertKeysOpen, openSamples } from '../../rwa/assets/secret-keys-store.ts';
import { type Finding, fault, finding, findings, ok, warning } from '../shared/finding.ts';
import { examineAssets, examineTreasuries } from './asset-check.ts';
import type { DoctorParts } from './doctor-parts.ts';
import { examineIndexes } from './index-check.ts';
import { examineVerifier } from './key-check.ts';
import { examineMinting } from './minter-check.ts';
import { examineNodes } from './node-check.ts';

/**
 * Checks what a migrated database contains, and everything outside that the service calls.
 * @param key a caller's key to be verified; undefined where none was given
 */
export async function examineService(parts: DoctorParts, key: string | undefined): Promise<Finding[]> {
  const { db, config } = parts;
  const networks = await listNetworks(db);
  const [secrets, endpoints, verified, keys, nodes] = await Promise.all([
    finding('claim secrets', () => examineSecrets(parts)),
    finding('endpoint secrets', () => examineEndpointSecrets(parts)),
    examineVerifier(parts, key),
    config.KEY_VERIFIER === 'remote' ? [] : findings('keys', () => ownKeys(parts)),
    Promise.all(networks.map((network) => examineNodes(network, config))),
  ]);
  const assets = [
    ...(await findings('contracts', () => examineAssets(parts))),
    ...(await findings('treasury', () => examineTreasuries(db))),
  ];
  const minters = await findings('minting', () => examineMinting(parts, networks));
  const processes = await findings('roles', () => examineProcesses(db, networks));
  const indexes = await findings('indexes', () => examineIndexes(db));
  const missing = networks.length === 0 ? [noNetwork] : withoutProvider(networks, config);
  const callers = [...verified, ...keys];
  return [
    ...[...processes, ...indexes, secrets, endpoints, ...callers, ...nodes.flat()],
    ...[...inClear(networks), ...minters, ...assets, ...missing],
  ];
}

const noNetwork = warning('networks', 'none is registered yet: tallystick network add --help');

/** A warning for networks whose hosted data provider has no credentials. */
function withoutProvider(networks: readonly Network[], config: Config): Finding[] {
  const hosted = networks.filter(({ dataProvider }) => dataProvider === 'moralis');
  if (hosted.length === 0 || config.MORALIS_API_KEY !== undefined) return [];
  const chainIds = hosted.map(({ chainId }) => chainId).join(', ');
  return [warning('data provider', `networks without history and NFTs: ${chainIds}; set MORALIS_API_KEY`)];
}

async function examineSecrets({ db, config }: DoctorParts): Promise<string> {
  if (config.SECRET_KEYS === undefined) return 'not needed: the area rwa is not served';
  const vault = createClaimSecretVault(config.SECRET_KEYS);
  await assertKeysOpen(db, vault);
  const damaged = (await openSamples(db, vault)).filter(({ opened, tried }) => opened < tried);
  if (damaged.length === 0) return 'every key in use is known and opens what it sealed';
  const some = damaged.map(({ keyId, opened, tried }) => `${tried - opened} of ${tried} of key ${keyId}`);
  throw new Error(
    `Some claim secrets do not open: ${some.join(', ')}. They are damaged, or a process has other bytes under this id.`,
  );
}

async function examineEndpointSecrets({ db, config }: DoctorParts): Promise<string> {
  if (config.SECRET_KEYS === undefined) return 'not needed: nothing is sent to endpoints';
  await assertEndpointKeysOpen(db, createEndpointSecrets(config.SECRET_KEYS));
  return 'every key in use is known and opens what it sealed';
}

async function ownKeys({ db }: DoctorParts): Promise<Finding[]> {
  const [companies, active] = await Promise.all([countCompanies(db), countActiveKeys(db)]);
  const detail = `companies: ${companies}, active keys: ${active}`;
  if (active > 0) return [ok('keys', detail)];
  return [warning('keys', `${detail}: nobody can call; tallystick key create --help`)];
}

/** A warning where credentials in the addresses of nodes stand in clear in the database. */
function inClear(networks: readonly Network[]): Finding[] {
  const open = networks.filter(({ rpcUrls }) => rpcUrls.some(isInClear));
  if (open.length === 0) return [];
  const chainIds = open.map(({ chainId }) => chainId).join(', ');
  return [
    warning(
      'addresses',
      `credentials in clear in the addresses of the nodes of ${chainIds}: tallystick network seal`,
    ),
  ];
}

/** Whether each role that these networks need has a process with a heartbeat in the last minute. */
async function examineProcesses(db: Database, networks: readonly Network[]): Promise<Finding[]> {
  const processes = await listProcesses(db);
  const roles = [
    'api',
    ...(networks.some(({ minterContract }) => minterContract !== null) ? ['worker'] : []),
    ...(networks.some(({ dataProvider }) => dataProvider === 'indexer') ? ['indexer'] : []),
  ];
  return roles.map((role) =>
    examineRole(
      role,
      processes.filter((each) => each.roles.includes(role)),
    ),
  );
}

function examineRole(role: string, processes: readonly SeenProcess[]): Finding {
  const check = `role ${role}`;
  const present = processes.filter(({ isSilent }) => !isSilent);
  if (present.length > 0) return ok(check, present.map(inWords).join('; '));
  const remedy = `start one with ROLES=${role}`;
  const last = processes.toSorted((one, other) => Number(other.seenAt) - Number(one.seenAt))[0];
  if (last === undefined) return warning(check, `no process has this role: ${remedy}`);
  return fault(
    check,
    `no heartbeat for a minute; the last was of ${last.name} at ${last.seenAt.toISOString()}: see its log, or ${remedy}`,
  );
}

const inWords = ({ name, version, startedAt }: SeenProcess) =>
  `${name}, ${version}, since ${startedAt.toISOString()}`;
