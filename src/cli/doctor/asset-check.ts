import { isZeroAddress } from '../../chain/address.ts';
import type { Database } from '../../contract/transaction.ts';
import { findWithoutTreasury } from '../../keys/company-store.ts';
import { listUnusableTreasuries } from '../../rwa/minting/accept/recipient-store.ts';
import {
  countRwasOf,
  listUsedContracts,
  type UsedContract,
} from '../../rwa/minting/contract-verdict-store.ts';
import { contractKey, type Examined, examineContracts } from '../shared/contract-door.ts';
import { type Finding, fault, ok, warning } from '../shared/finding.ts';
import type { DoctorParts } from './doctor-parts.ts';

/**
 * Examines every contract that RWAs name: a fault for each on which NFTs cannot be minted, one finding for all others
 * of a network.
 */
export async function examineAssets(parts: DoctorParts): Promise<Finding[]> {
  const used = await listUsedContracts(parts.db);
  const examined = await examineContracts(parts, used);
  const found = [...Map.groupBy(used, ({ chainId }) => chainId)].map(([chainId, contracts]) =>
    findingsOf(parts.db, `contracts ${chainId}`, contracts, examined),
  );
  return (await Promise.all(found)).flat();
}

async function findingsOf(
  db: Database,
  check: string,
  contracts: readonly UsedContract[],
  examined: ReadonlyMap<string, Examined>,
): Promise<Finding[]> {
  const found = contracts.flatMap((contract) => {
    const each = examined.get(contractKey(contract));
    return each === undefined ? [] : [{ ...contract, ...each }];
  });
  const fit = found.filter(({ verdict }) => verdict === 'fit').length;
  const unknown = found.filter(({ verdict }) => verdict === 'unknown').length;
  const faults: Finding[] = [];
  for (const each of found.filter(({ verdict }) => verdict === 'unfit' || verdict === 'forbidden')) {
    const rwas = await countRwasOf(db, each);
    const named = rwas === 1 ? `RWA ${each.firstRwa}` : `${rwas} RWAs, the first ${each.firstRwa}`;
    faults.push(fault(check, `${each.contract}, of ${named}: ${each.detail}`));
  }
  return [
    ...(fit > 0 ? [ok(check, `in order: ${fit}`)] : []),
    ...(unknown > 0 ? [warning(check, `not examined, since no node answers: ${unknown}`)] : []),
    ...faults,
  ];
}

const nameOf = (address: string) =>
  isZeroAddress(address) ? 'the zero address' : `${address}, to which no NFT can be minted`;

/**
 * A fault for each company whose treasury is an address to which nothing is minted, and one warning for all companies that
 * have no treasury.
 */
export async function examineTreasuries(db: Database): Promise<Finding[]> {
  const unusable = (await listUnusableTreasuries(db)).map(({ companyId, companyName, address }) =>
    fault(
      'treasury',
      `${companyName} has ${nameOf(address)}: tallystick company update ${companyId} --treasury <address>`,
    ),
  );
  const { count, names } = await findWithoutTreasury(db, mostNamed);
  if (count === 0) return unusable;
  const named = `${names.join(', ')}${count > names.length ? ', …' : ''}`;
  const detail = `companies without one: ${count} (${named}); their mints need a recipient: tallystick company update <company> --treasury <address>`;
  return [...unusable, warning('treasury', detail)];
}

const mostNamed = 3;
