import pLimit from 'p-limit';
import { errorText } from '../../base/thrown.ts';
import type { ContractVerdict } from '../../chain/contracts/contract-check.ts';
import { listNetworks } from '../../chain/network-store.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../contract/transaction.ts';
import { saveContractVerdicts } from '../../rwa/minting/contract-verdict-store.ts';
import { examineContract, isMintedOn, type NamedContract } from '../../rwa/minting/examine-contract.ts';
import { listLanes } from '../../rwa/minting/lane-status-store.ts';

/** A contract that RWAs name or are to name. */
export type Named = {
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly contract: string;
  /** Whether the RWA's NFTs can be claimed: then the service mints on it, where the network has a minter contract. */
  readonly isClaimable: boolean;
};

/** `unknown` when no node of the network answered. */
export type Examined = {
  readonly chainId: string;
  readonly contract: string;
  readonly verdict: ContractVerdict | 'unknown';
  readonly detail: string;
  /** Whether the service mints on it. */
  readonly isMinted: boolean;
};

type Parts = { readonly db: Database; readonly clients: RpcClients };

// A node that is hosted limits how many questions it answers at once.
const atOnce = 8;

/**
 * Asks the networks about contracts: a contract that the service mints on must be an NFT contract that lets a signer
 * mint. Others need code. Stores nothing.
 * @returns what was found out, by {@link contractKey}; nothing of networks that are not registered
 */
export async function examineContracts(
  { db, clients }: Parts,
  named: readonly Named[],
): Promise<ReadonlyMap<string, Examined>> {
  const networks = new Map((await listNetworks(db)).map((network) => [network.chainId, network]));
  const signers = Map.groupBy(await listLanes(db, {}), ({ chainId }) => chainId);
  const unreachable = new Map<string, string>();

  const examine = async (use: NamedContract): Promise<Omit<Examined, 'isMinted'>> => {
    const { contract } = use;
    const { chainId } = use.network;
    const silent = unreachable.get(chainId);
    if (silent !== undefined) return { chainId, contract, verdict: 'unknown', detail: silent };
    try {
      const minters = (signers.get(chainId) ?? []).map(({ signer }) => signer);
      return { chainId, contract, ...(await examineContract(clients, use, minters)) };
    } catch (error) {
      // Its other contracts would each wait for the nodes as long.
      unreachable.set(chainId, errorText(error));
      return { chainId, contract, verdict: 'unknown', detail: errorText(error) };
    }
  };

  const uses = usesOf(named, networks);
  const inTurn = pLimit(atOnce);
  const examined = await Promise.all(uses.map((use) => inTurn(() => examine(use))));
  return new Map(
    examined.map((each, index) => [contractKey(each), { ...each, isMinted: isMinted(uses[index]) }]),
  );
}

/** Stores what was found out, which accepting a mint reads. */
export async function keepVerdicts(db: Database, examined: Iterable<Examined>): Promise<void> {
  const verdicts = [...examined].flatMap(({ verdict, isMinted: isMintedHere, ...rest }) =>
    // That there is code says nothing for the RWAs that are minted on the same contract.
    verdict === 'unknown' || (verdict === 'fit' && !isMintedHere) ? [] : [{ ...rest, verdict }],
  );
  await saveContractVerdicts(db, verdicts);
}

const isMinted = (use: NamedContract | undefined) => use !== undefined && isMintedOn(use);

/** Each contract once, without contracts of networks that are not registered. */
function usesOf(named: readonly Named[], networks: ReadonlyMap<string, Network>): NamedContract[] {
  return [...Map.groupBy(named, contractKey).values()].flatMap((same) => {
    const [first] = same;
    const network = first && networks.get(first.chainId);
    if (first === undefined || network === undefined) return [];
    return [{ network, contract: first.contract, isClaimable: same.some(({ isClaimable }) => isClaimable) }];
  });
}

export const contractKey = ({ chainId, contract }: Pick<Named, 'chainId' | 'contract'>) =>
  `${chainId} ${contract}`;
