import { Wallet } from 'ethers';
import { type Fault, plenty, type Scene } from './fault-scene.ts';

const noDelegation = '0x';
const delegatedTo = (address: string) => `0xef0100${address.slice(2).toLowerCase()}`;

/** Ends the delegations of all signers, as if none had signed any. */
export async function endDelegations({ signers, chain }: Scene['setup']): Promise<void> {
  for (const signer of signers) await chain.call('anvil_setCode', signer, noDelegation);
}

/** Accounts of signers with a delegation (EIP-7702), which nodes let have one transaction at a time. */
export const delegationFaults: readonly Fault[] = [
  async ({ setup, chance }) => {
    const signer = chance.of(setup.signers);
    await setup.chain.call('anvil_setCode', signer, delegatedTo(setup.chain.contract));
    return `delegate ${signer}`;
  },
  async ({ setup, chance }) => {
    const key = chance.of(setup.chain.keys);
    const block = chance.of(['latest', 'pending']);
    const { address } = new Wallet(key);
    const nonce = Number(await setup.chain.call<string>('eth_getTransactionCount', address, block));
    const target = chance.of([setup.chain.contract, noAddress]);
    await includeAuthorization(setup, key, { nonce, target }).catch(() => {});
    return `somebody includes an authorization with nonce ${nonce} (${block}) of ${address}`;
  },
];

/** Ends a delegation. */
const noAddress = `0x${'00'.repeat(20)}`;

/** Sends a transaction of another account with an authorization of ours, which uses the nonce when it is mined. */
async function includeAuthorization(
  { chain }: Scene['setup'],
  key: string,
  { nonce, target }: { readonly nonce: number; readonly target: string },
): Promise<void> {
  const chainId = Number(chain.chainId);
  const other = Wallet.createRandom();
  await chain.call('anvil_setBalance', other.address, plenty);
  const authorization = await new Wallet(key).authorize({ chainId, address: target, nonce });
  const raw = await other.signTransaction({
    chainId,
    nonce: 0,
    to: other.address,
    gasLimit: 100_000,
    maxFeePerGas: 200_000_000_000n,
    maxPriorityFeePerGas: 100_000_000_000n,
    type: 4,
    authorizationList: [authorization],
  });
  await chain.call('eth_sendRawTransaction', raw);
}
