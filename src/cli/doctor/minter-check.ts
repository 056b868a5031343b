import { errorText } from '../../base/thrown.ts';
import { checkContract } from '../../chain/contracts/contract-check.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { listLanes } from '../../rwa/minting/lane-status-store.ts';
import { type Finding, finding } from '../shared/finding.ts';
import { isLoopback } from '../shared/values.ts';

type Parts = { readonly db: Database; readonly clients: RpcClients };

/** Examines what each network mints with: the contract that it names, and its signers, who need funds. */
export async function examineMinters(parts: Parts, networks: readonly Network[]): Promise<Finding[]> {
  const found = await Promise.all(networks.map((network) => examineMinter(parts, network)));
  return found.flat();
}

async function examineMinter({ db, clients }: Parts, network: Network): Promise<Finding[]> {
  const { chainId, minterContract } = network;
  if (minterContract === null) return [];
  const check = `minting ${chainId}`;
  const signers = [...new Set((await listLanes(db, { chainId })).map(({ signer }) => signer))];
  const findings: Finding[] = [];
  try {
    const provider = clients.for(network);
    const checks = await checkContract(provider, minterContract, signers);
    const faults = checks.filter(({ state }) => state === 'FAULT');
    findings.push(...faults.map(({ detail }): Finding => ({ check, state: 'FAULT', detail })));
    if (faults.length === 0)
      findings.push({ check, state: 'ok', detail: `${minterContract} can be minted on` });
    for (const signer of signers) {
      findings.push(
        await finding(check, async () => {
          const [funds, next, sent] = await Promise.all([
            provider.getBalance(signer),
            provider.getTransactionCount(signer, 'latest'),
            provider.getTransactionCount(signer, 'pending'),
          ]);
          if (funds === 0n) throw new Error(`${signer} has no funds: send it ${network.currency.symbol}`);
          const waiting = sent > next ? `, and ${sent - next} transaction(s) that wait for a block` : '';
          return `${signer} has funds${waiting}; its next nonce is ${next}`;
        }),
      );
    }
  } catch (error) {
    // That its nodes do not answer is a finding of its own.
    findings.push({ check, state: 'warning', detail: `not examined: ${errorText(error)}` });
  }
  return findings;
}

/** Warns of addresses that others are given and that lead to their own machine. */
export function examineBaseAddresses({ publicBaseUrl, claimBaseUrl }: Config): Finding[] {
  const given = { PUBLIC_BASE_URL: publicBaseUrl, CLAIM_BASE_URL: claimBaseUrl };
  return Object.entries(given).flatMap(([name, url]): Finding[] =>
    isLoopback(url)
      ? [
          {
            check: 'base addresses',
            state: 'warning',
            detail: `${name} is ${url}, which only this machine reaches`,
          },
        ]
      : [],
  );
}
