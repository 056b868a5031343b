import { AbiCoder, concat, hashMessage, type JsonRpcApiProvider, recoverAddress } from 'ethers';
import type { Address } from './address.ts';
import artefact from './contracts/artefacts/SignatureCheck.json' with { type: 'json' };
import { readContract } from './rpc/client/contract-call.ts';

// Ample for a factory that deploys a wallet, and for a wallet that checks a passkey.
const gas = 15_000_000n;

/** Whether the key of an account without code, or of one that delegates its code (EIP-7702), has signed a text (ERC-191). */
export function isSignedByKey({ checksum }: Address, text: string, signature: string): boolean {
  try {
    return recoverAddress(hashMessage(text), signature) === checksum;
  } catch {
    // It has another form, such as the signature of a contract wallet.
    return false;
  }
}

/**
 * Asks a node whether a wallet that is a contract accepts the signature of a text: deployed (ERC-1271), or not yet (ERC-6492).
 * @throws when the node does not answer
 */
export async function isSignedByContract(
  node: JsonRpcApiProvider,
  block: bigint,
  wallet: Address,
  { text, signature }: { readonly text: string; readonly signature: string },
): Promise<boolean> {
  const values = AbiCoder.defaultAbiCoder().encode(
    ['address', 'bytes32', 'bytes'],
    [wallet.checksum, hashMessage(text), signature],
  );
  const answer = await readContract(node, { data: concat([artefact.bytecode, values]), gas }, block);
  return answer === '0x01';
}
