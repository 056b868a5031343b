import { type MintSigner, type Signed, SignerUnavailableError } from '../../chain/minting/signer.ts';
import type { LaneMemory } from './context/lane-memory.ts';

// The words are those of whoever keeps the key.
const maxWords = 500;

/** The signer of a lane, which notes in its memory why it does not sign, until it does. */
export function noteFaults(signer: MintSigner, memory: Pick<LaneMemory, 'signerFault'>): MintSigner {
  const noted = async (sign: () => Promise<Signed>): Promise<Signed> => {
    try {
      const signed = await sign();
      memory.signerFault = undefined;
      return signed;
    } catch (error) {
      if (error instanceof SignerUnavailableError) memory.signerFault = error.message.slice(0, maxWords);
      throw error;
    }
  };
  return {
    address: signer.address,
    sign: (transaction) => noted(() => signer.sign(transaction)),
    signFill: (transaction) => noted(() => signer.signFill(transaction)),
    signReplacement: (raw, replacement) => noted(() => signer.signReplacement(raw, replacement)),
  };
}
