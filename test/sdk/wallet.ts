import { Wallet } from 'ethers';

/** A wallet of its own, which signs what an event asks. */
export const wallet = Wallet.createRandom();
