import { errorText } from '../../base/thrown.ts';
import { metadataBase, readBaseUri } from '../../chain/contracts/base-uri.ts';
import { checkContract } from '../../chain/contracts/contract-check.ts';
import { formatUnits } from '../../chain/decimal.ts';
import { feeCapOf, priceOf, quote } from '../../chain/minting/fees.ts';
import { gasCostOf, gasFor } from '../../chain/minting/gas.ts';
import { createMintNode } from '../../chain/minting/mint-node.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { Config } from '../../config/config.ts';
import { isNetworkStaffed, listLanes } from '../../rwa/minting/lane-status-store.ts';
import { type Finding, fault, finding, ok, warning } from '../shared/finding.ts';
import { isLoopback, localChain } from '../shared/values.ts';
import type { DoctorParts } from './doctor-parts.ts';

type MintingNetwork = Network & { readonly minterContract: string };

const isMinting = (network: Network): network is MintingNetwork => network.minterContract !== null;

/** Examines what each network mints with: a worker with a signer, the contract, and where its tokens have metadata. */
export async function examineMinting(parts: DoctorParts, networks: readonly Network[]): Promise<Finding[]> {
  const found = networks
    .filter(isMinting)
    .map(async (network) => [
      ...(await examineStaff(parts, network)),
      ...(await examineMinter(parts, network)),
      ...(await examineBaseUri(parts, network)),
    ]);
  return (await Promise.all(found)).flat();
}

/** Whether a network has a worker with a signer, or settings that give it to one. */
async function examineStaff({ db, config, isLocal }: DoctorParts, { chainId }: Network): Promise<Finding[]> {
  if (isLocal || (await isNetworkStaffed(db, chainId))) return [];
  const check = `minting ${chainId}`;
  if (config.MINT_SIGNERS?.some((signer) => signer.chainId === chainId))
    return [
      warning(
        check,
        'no worker has had the signer in the last 10 minutes: start one with ROLES=worker, or read in the log of the worker why the signer cannot be used',
      ),
    ];
  return [
    fault(
      check,
      'a minter contract is named, but these settings name no signer, and no worker has had one in the last 10 minutes: set MINT_SIGNERS',
    ),
  ];
}

/** Examines the contract that a network names, and its signers, who need funds. */
async function examineMinter(
  { db, clients, config }: DoctorParts,
  network: MintingNetwork,
): Promise<Finding[]> {
  const { chainId, minterContract, currency } = network;
  const check = `minting ${chainId}`;
  const signers = [...new Set((await listLanes(db, { chainId })).map(({ signer }) => signer))];
  try {
    const provider = clients.for(network);
    const checks = await checkContract(provider, minterContract, signers);
    const faults = checks.filter(({ state }) => state === 'FAULT').map(({ detail }) => fault(check, detail));
    const verdict = faults.length > 0 ? faults : [ok(check, `${minterContract} can be minted on`)];
    const cost = await costOfOneMint({ clients, config }, network);
    const inWords = (wei: bigint) => `${formatUnits(wei, currency.decimals)} ${currency.symbol}`;
    const funds = signers.map((signer) =>
      finding(check, async () => {
        const [balance, next, sent] = await Promise.all([
          provider.getBalance(signer),
          provider.getTransactionCount(signer, 'latest'),
          provider.getTransactionCount(signer, 'pending'),
        ]);
        if (balance === 0n) throw new Error(`${signer} has no funds: send it ${currency.symbol}`);
        if (balance < cost)
          throw new Error(
            `${signer} has ${inWords(balance)}, and a mint needs ${inWords(cost)} at present: send it ${currency.symbol}`,
          );
        const waiting = sent > next ? `, and ${sent - next} transaction(s) that wait for a block` : '';
        return `${signer} has funds${waiting}; its next nonce is ${next}`;
      }),
    );
    return [...verdict, ...(await Promise.all(funds))];
  } catch (error) {
    // That its nodes do not answer is a finding of its own.
    return [warning(check, `not examined: ${errorText(error)}`)];
  }
}

/** What a lane must have to send one mint on our own contract at the present price, in wei. */
async function costOfOneMint(
  { clients, config }: Pick<DoctorParts, 'clients' | 'config'>,
  network: Network,
): Promise<bigint> {
  const node = createMintNode(clients.for(network));
  const { baseFee, suggested } = await node.market(await node.head());
  const least = BigInt(network.minTip);
  const market = { baseFee, suggested: suggested > least ? suggested : least };
  const fees = quote(market, feeCapOf(config.MINT_MAX_FEE_GWEI));
  return gasFor(gasCostOf(0n), 1) * (fees?.maxFeePerGas ?? priceOf(market));
}

/** Compares where the contract of a network says that metadata are with where this service has them. */
async function examineBaseUri({ clients, config }: DoctorParts, network: MintingNetwork): Promise<Finding[]> {
  const { chainId, minterContract } = network;
  const check = `metadata ${chainId}`;
  const remedy = `tallystick contract set-base-uri ${chainId} ${minterContract}`;
  try {
    const base = await readBaseUri(clients.for(network), minterContract);
    if (base === undefined) return [];
    if (base === '') return [fault(check, `tokens of ${minterContract} name no metadata: ${remedy}`)];
    const names = `${minterContract} names ${base}`;
    if (chainId !== localChain && URL.canParse(base) && isLoopback(base)) {
      const detail = `${names}, which only this machine reaches: set PUBLIC_BASE_URL, then ${remedy}`;
      return [fault(check, detail)];
    }
    const own = metadataBase(config.publicBaseUrl, chainId, minterContract);
    if (base.toLowerCase() === own.toLowerCase()) return [ok(check, names)];
    return [warning(check, `${names}, and PUBLIC_BASE_URL gives ${own}: fix PUBLIC_BASE_URL, or ${remedy}`)];
  } catch (error) {
    return [warning(check, `not examined: ${errorText(error)}`)];
  }
}

/** Warns of addresses that others are given and that lead to their own machine. */
export function examineBaseAddresses({ publicBaseUrl, claimBaseUrl }: Config): Finding[] {
  const given = { PUBLIC_BASE_URL: publicBaseUrl, CLAIM_BASE_URL: claimBaseUrl };
  return Object.entries(given)
    .filter(([, url]) => isLoopback(url))
    .map(([name, url]) => warning('base addresses', `${name} is ${url}, which only this machine reaches`));
}
