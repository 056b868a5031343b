import { Contract, ContractFactory, type HDNodeWallet, JsonRpcProvider, NonceManager, Wallet } from 'ethers';
import type { Knex } from 'knex';
import { test as base, perFile } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { compileContracts } from '../support/solidity.ts';
import { eventPath, givenEvent } from './requests.ts';

type Body = Readonly<Record<string, unknown>>;

/** A local chain with contracts, for a service that reads it. */
export type Doors = {
  /** Deploys a contract of test/support/contracts. @returns its address in EIP-55 */
  deploy(name: string): Promise<string>;
  /** Sends a transaction to a contract, and waits until it is mined. */
  send(name: string, address: string, method: string, ...values: readonly unknown[]): Promise<void>;
  /** Calls a contract. */
  call(name: string, address: string, method: string, ...values: readonly unknown[]): Promise<string>;
  /** Moves a token of an ERC-721 of a wallet without a key here. */
  transfer(contract: string, from: string, to: string, tokenId: number): Promise<void>;
  readonly provider: JsonRpcProvider;
};

/** The test function with `doors`, and a service on their chain. */
export const test = base
  .extend('serviceOptions', perFile, ({ chain }) => ({ rpcUrl: chain.rpcUrl }))
  .extend('doors', perFile, async ({ chain }, { onCleanup }): Promise<Doors> => {
    const contracts = await compileContracts();
    const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1, polling: true });
    onCleanup(() => provider.destroy());
    const signer = new NonceManager(await provider.getSigner(0));
    const abiOf = (name: string) => contracts[name]?.abi ?? [];
    return {
      provider,
      async deploy(name) {
        const factory = new ContractFactory(abiOf(name), contracts[name]?.bytecode ?? '', signer);
        const deployed = await factory.deploy();
        await deployed.waitForDeployment();
        return deployed.getAddress();
      },
      async send(name, address, method, ...values) {
        const sent = await new Contract(address, abiOf(name), signer).getFunction(method).send(...values);
        await sent.wait();
      },
      async transfer(contract, from, to, tokenId) {
        await provider.send('anvil_impersonateAccount', [from]);
        await provider.send('anvil_setBalance', [from, '0x56bc75e2d63100000']);
        const owner = await provider.getSigner(from);
        const sent = await new Contract(contract, abiOf('Listed'), owner)
          .getFunction('transferFrom')
          .send(from, to, tokenId);
        await sent.wait();
      },
      async call(name, address, method, ...values) {
        return String(await new Contract(address, abiOf(name), provider).getFunction(method)(...values));
      },
    };
  });

/** A wallet that nobody has asked for before, so that nothing of it is cached. */
export const newWallet = (): HDNodeWallet => Wallet.createRandom();

/** A new wallet, and a new contract of which it has these tokens. */
export async function givenHolder(doors: Doors, ...tokens: readonly number[]) {
  const { address: wallet } = newWallet();
  const listed = await doors.deploy('Listed');
  for (const token of tokens) await doors.send('Listed', listed, 'mint', wallet, token);
  return { wallet, listed };
}

/** Registers a network like that of the service, of which no node answers. */
export async function addDeadNetwork(db: Knex): Promise<void> {
  const [network] = await db('networks').where({ chain_id: 31337 });
  const dead = { chain_id: 31338, name: 'Dead', rpc_urls: ['http://127.0.0.1:9'] };
  await db('networks').insert({ ...network, ...dead });
}

/** Says of the contract of an RWA that its owners were read up to block 41. */
export async function addLedger(db: Knex, rwaId: string, caughtUp = 'clock_timestamp()'): Promise<void> {
  const { chain_id, contract_address: contract } = await db('rwas').where({ id: rwaId }).first();
  const at = { first_block: 0, number: 41, hash: `0x${'4'.repeat(64)}`, time: '2026-11-21T07:00:00Z' };
  await db('nft_ledgers')
    .insert({ chain_id, contract, ...at, caught_up_at: db.raw(caughtUp) })
    .onConflict(['chain_id', 'contract'])
    .merge();
}

/** Creates an event whose attendees need what the entries name. */
export async function givenDoor(
  client: Client,
  entries: readonly string[],
  more: Body = {},
): Promise<string> {
  const body = { chainId: 31337, contractRequiredToAttend: entries, ...more };
  return (await givenEvent(client, body)).id;
}

export const attendeesPath = (id: string) => `${eventPath}/${id}/attendees`;
export const eligibilityPath = (id: string, wallet: string) =>
  `${eventPath}/${id}/eligibility?wallet=${wallet}`;

/** Adds an attendee with a wallet. */
export const enter = (client: Client, id: string, body: Body) => client.post(attendeesPath(id)).send(body);
