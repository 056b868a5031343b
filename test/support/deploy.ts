import { AbiCoder, Contract, ContractFactory, id, type JsonRpcProvider } from 'ethers';
import type { CompiledContract } from '../../scripts/solidity.ts';
import artefact from '../../src/chain/contracts/artefacts/TallystickNft.json' with { type: 'json' };

/** The first account of a local chain, from which tests send transactions. */
export const deployer = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';

/** Calls a method of a node that works. Throws if the node answers with an error. */
export async function callNode<T>(rpcUrl: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  // A node that is known to work: what it answers has the form that its method has.
  const answer = (await response.json()) as { result: T; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

/** Deploys a contract on a chain that mines on demand. @returns the address in lower case */
export async function deploy(
  rpcUrl: string,
  contract: CompiledContract | undefined,
  texts: readonly string[] = [],
): Promise<string> {
  if (contract === undefined) throw new Error('no such contract');
  const values = AbiCoder.defaultAbiCoder().encode(
    texts.map(() => 'string'),
    texts,
  );
  return sendMined(rpcUrl, { data: contract.bytecode + values.slice(2) });
}

/** Sends a transaction on a chain that mines on demand. @returns the address of the contract that it creates */
export async function sendMined(
  rpcUrl: string,
  call: {
    readonly from?: string;
    readonly to?: string | undefined;
    readonly data: string;
    readonly value?: bigint;
  },
): Promise<string> {
  const { from = deployer, to, data, value = 0n } = call;
  const transaction = { from, data, value: `0x${value.toString(16)}`, gas: '0x2dc6c0', ...(to && { to }) };
  const hash = await callNode<string>(rpcUrl, 'eth_sendTransaction', [transaction]);
  const { contractAddress } = await minedReceipt(rpcUrl, hash);
  // Null where it creates none.
  return contractAddress?.toLowerCase() ?? '';
}

type Receipt = { readonly contractAddress: string };

/** Waits for the receipt of a transaction: the chain returns the hash just before it mines. */
export async function minedReceipt(rpcUrl: string, hash: string): Promise<Receipt> {
  const receipt = await callNode<Receipt | null>(rpcUrl, 'eth_getTransactionReceipt', [hash]);
  return receipt ?? minedReceipt(rpcUrl, hash);
}

/** Deploys the NFT contract by the first account of a chain, and gives these accounts funds and the right to mint on it. */
export async function deployNft(provider: JsonRpcProvider, minters: readonly string[]): Promise<Contract> {
  const admin = await provider.getSigner(0);
  const { abi, bytecode } = artefact;
  const deployed = await new ContractFactory(abi, bytecode, admin).deploy(
    'Tallystick',
    'TALLY',
    admin.address,
  );
  const nft = new Contract(await deployed.getAddress(), abi, admin);
  for (const minter of minters) {
    await provider.send('anvil_setBalance', [minter, '0x56bc75e2d63100000']);
    await nft.getFunction('grantRole')(id('MINTER_ROLE'), minter);
  }
  return nft;
}
