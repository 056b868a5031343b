import type { ContractLook } from '../../chain/minting/contract-look.ts';
import type { LaneContext } from './lane-context.ts';

const words: Readonly<Record<Exclude<ContractLook, 'contract'>, string>> = {
  no_code: 'it has no code',
  nonsense: 'it answers who owns a token that does not exist with nonsense',
};

/**
 * Finds whether a contract is none that mints, at the newest final block: it has no code, or answers anything to any
 * question. Believed when it looks the same at two final blocks of the chain that has this network's id.
 * @returns the reason in words; `doubted` after the first look; undefined when it may mint
 */
export async function unfitContract(
  { memory, network, node }: LaneContext,
  contract: string,
  finalized: bigint,
): Promise<string | 'doubted' | undefined> {
  if (finalized < 0n) return undefined;
  const look = await node.lookAt(contract, finalized);
  const first = memory.unfit.get(contract);
  if (look === 'contract') {
    memory.unfit.delete(contract);
    return undefined;
  }
  const [block, chainId] = await Promise.all([node.block(finalized), node.chainId()]);
  if (block === null || chainId.toString() !== network.chainId) return 'doubted';
  if (first === undefined || first.seen !== look) {
    memory.unfit.set(contract, { seen: look, number: finalized, hash: block.hash });
    return 'doubted';
  }
  const isSameChain = (await node.block(first.number))?.hash === first.hash;
  if (!isSameChain) memory.unfit.delete(contract);
  if (!isSameChain || finalized <= first.number) return 'doubted';
  return `${contract} is no contract that mints: ${words[look]}.`;
}
