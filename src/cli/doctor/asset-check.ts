import { isZeroAddress } from '../../chain/address.ts';
import type { RpcClients } from '../../chain/rpc/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import { listCompanies } from '../../keys/company-store.ts';
import { listUsedContracts, type UsedContract } from '../../rwa/minting/contract-verdict-store.ts';
import { contractKey, type Examined, examineContracts } from '../shared/contract-door.ts';
import type { Finding } from '../shared/finding.ts';

type Parts = { readonly db: Database; readonly clients: RpcClients };

/**
 * Examines every contract that RWAs name: a fault for each on which NFTs cannot be minted, one finding for all others
 * of a network. Keeps the verdicts, so that mints are accepted again where a contract was mended.
 */
export async function examineAssets(parts: Parts): Promise<Finding[]> {
  const used = await listUsedContracts(parts.db);
  const examined = await examineContracts(parts, used);
  return [...Map.groupBy(used, ({ chainId }) => chainId)].flatMap(([chainId, contracts]) =>
    findingsOf(`contracts ${chainId}`, contracts, examined),
  );
}

function findingsOf(
  check: string,
  contracts: readonly UsedContract[],
  examined: ReadonlyMap<string, Examined>,
): Finding[] {
  const found = contracts.flatMap((contract) => {
    const each = examined.get(contractKey(contract));
    return each === undefined ? [] : [{ ...contract, ...each }];
  });
  const fit = found.filter(({ verdict }) => verdict === 'fit').length;
  const unknown = found.filter(({ verdict }) => verdict === 'unknown').length;
  return [
    ...(fit > 0 ? [{ check, state: 'ok' as const, detail: `in order: ${fit}` }] : []),
    ...(unknown > 0
      ? [{ check, state: 'warning' as const, detail: `not examined, since no node answers: ${unknown}` }]
      : []),
    ...found
      .filter(({ verdict }) => verdict === 'unfit' || verdict === 'forbidden')
      .map(({ contract, detail, firstRwa, rwas }) => {
        const named = rwas === 1 ? `RWA ${firstRwa}` : `${rwas} RWAs, the first ${firstRwa}`;
        return { check, state: 'FAULT' as const, detail: `${contract}, of ${named}: ${detail}` };
      }),
  ];
}

/** A fault for each company whose treasury is the zero address, to which no contract mints. */
export async function examineTreasuries(db: Database): Promise<Finding[]> {
  const companies = await listCompanies(db);
  return companies
    .filter(({ treasuryAddress }) => treasuryAddress !== null && isZeroAddress(treasuryAddress))
    .map(({ id, name }) => ({
      check: 'treasury',
      state: 'FAULT',
      detail: `${name} has the zero address: tallystick company update ${id} --treasury <address>`,
    }));
}
