import { getAddress, HDNodeWallet } from 'ethers';
import { deployData } from '../../chain/contracts/contract-calls.ts';
import type { ChainRpc } from '../programs/chain-rpc.ts';
import { type Cast, type ContractAddresses, type ContractName, worldContracts } from './contracts.ts';
import { nftSetUp } from './nft-contract.ts';
import { assertEndings, createPlayer, receiptsOf, type Sent } from './player.ts';
import type { StoryStep } from './step.ts';
import { tellStory } from './story.ts';

export type ChainHead = { readonly number: string; readonly hash: string };

export type WorldChain = {
  readonly cast: Cast;
  readonly addresses: ContractAddresses;
  /** The block with which the story is complete. */
  readonly head: ChainHead;
};

export type WorldChainOptions = {
  readonly rpc: ChainRpc;
  /** Seconds since 1970. The story ends at this time and begins {@link storySeconds} earlier, with the first block. */
  readonly now: number;
  /** The service's own address, where metadata of minted NFTs are read. */
  readonly baseUrl: string;
};

/** How long the story lasts on the chain's clock: 30 days. */
export const storySeconds = 30 * 86_400;

/**
 * Plays the sample world on a new chain. Transactions, addresses and hashes are the same each time, the times of
 * blocks are not.
 * @throws Error when a transaction does not succeed or fail as the story requires
 */
export async function makeWorldChain({ rpc, now, baseUrl }: WorldChainOptions): Promise<WorldChain> {
  const cast = await castOf(rpc);
  const player = createPlayer(rpc);
  await rpc.call('evm_setAutomine', false);
  // Fees above the base fee go to somebody whose history shows them.
  await rpc.call('anvil_setCoinbase', cast.operator);
  const start = now - storySeconds + 60;
  const deployed = await player.play(
    names.map((name) => deployment(name, cast)),
    start,
  );
  const addresses = await addressesOf(rpc, deployed);
  const story = [nftSetUp(cast, addresses, baseUrl), ...tellStory(cast, addresses)];
  const sent: Sent[] = [];
  for (const [i, block] of story.entries()) {
    const time = start + Math.floor(((now - start) * (i + 1)) / story.length);
    sent.push(...(await player.play(block, time)));
  }
  await rpc.call('evm_setAutomine', true);
  await assertEndings(rpc, sent);
  return { cast, addresses, head: await headOf(rpc) };
}

export async function headOf(rpc: ChainRpc): Promise<ChainHead> {
  const block = (await rpc.call('eth_getBlockByNumber', 'latest', false)) as ChainHead; // the node's block
  return { number: block.number, hash: block.hash };
}

async function castOf(rpc: ChainRpc): Promise<Cast> {
  const accounts = (await rpc.call('eth_accounts')) as string[]; // the node's own, funded and unlocked
  const [operator = '', minter = '', acmeTreasury = '', globexTreasury = '', ...people] = accounts.map(
    (account) => getAddress(account),
  );
  return { operator, minter, acmeTreasury, globexTreasury, people };
}

/** The private key of the account that mints: the second of the accounts that every local chain has. */
export function minterKey(): string {
  const phrase = 'test test test test test test test test test test test junk';
  return HDNodeWallet.fromPhrase(phrase, '', "m/44'/60'/0'/0/1").privateKey;
}

const names = Object.keys(worldContracts) as ContractName[]; // the keys of a literal are its names

const constructorArgs: Readonly<Record<ContractName, (cast: Cast) => readonly unknown[]>> = {
  SampleToken: () => ['Sample Dollar', 'SUSD'],
  SampleCollectible: () => ['Sample Collectible', 'SCOL'],
  SampleEdition: () => ['Sample Edition', 'SEDI'],
  SampleSplitter: () => [],
  TallystickNft: ({ operator }) => ['Tallystick', 'TALLY', operator],
  SampleForgery: () => [],
};

const deployment = (name: ContractName, cast: Cast): StoryStep => ({
  from: cast.operator,
  to: null,
  data: deployData(worldContracts[name], constructorArgs[name](cast)),
  gas: 4_000_000n,
});

async function addressesOf(rpc: ChainRpc, deployed: readonly Sent[]): Promise<ContractAddresses> {
  const receipts = await receiptsOf(rpc, deployed);
  const entries = receipts.map((receipt, i) => [names[i], getAddress(receipt.contractAddress ?? '')]);
  return Object.fromEntries(entries) as ContractAddresses; // a deployment for each name
}
