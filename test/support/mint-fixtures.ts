import { test as base, perFile } from './fixtures.ts';
import { startMintChain, startMintService } from './minting.ts';

/** The test function with a chain that has a minter contract and one signer, and a service that mints on it. */
export const test = base
  .extend('minters', perFile, 1)
  .extend('mintChain', perFile, async ({ minters }, { onCleanup }) => {
    const chain = await startMintChain({ minters });
    onCleanup(() => chain.close());
    return chain;
  })
  .extend('mintService', perFile, async ({ mintChain }, { onCleanup }) => {
    const service = await startMintService(mintChain);
    onCleanup(() => service.close());
    return service;
  });
