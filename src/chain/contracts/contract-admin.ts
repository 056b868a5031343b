import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import {
  formatUnits,
  getCreateAddress,
  id,
  type JsonRpcApiProvider,
  type TransactionRequest,
  Wallet,
} from 'ethers';
import { priceOf, quote } from '../minting/fees.ts';
import { createMintNode } from '../minting/mint-node.ts';
import artefact from './artefacts/TallystickNft.json' with { type: 'json' };
import { callData, deployData } from './contract-calls.ts';

/** The account that deploys and administers an NFT contract. It is never the key of a minter. */
export type ContractAdmin = {
  /** EIP-55. */
  readonly address: string;
  /** Deploys a contract with this account as its admin. The address of the contract is EIP-55. */
  deploy(name: string, symbol: string): Promise<Done & { readonly contract: string }>;
  /** Sets the base of the token URIs of a contract. */
  setBaseUri(contract: string, base: string): Promise<Done>;
  grantMinter(contract: string, minter: string): Promise<Done>;
  revokeMinter(contract: string, minter: string): Promise<Done>;
};

/** The transaction that did it. */
type Done = { readonly hash: string };

const minterRole = id('MINTER_ROLE');
// Slow networks have a block every 12 s; a transaction at the suggested fees is included within a few of them.
const patienceMs = 180_000;
const lookMs = 500;

type AdminOptions = {
  readonly keystore: string;
  readonly passwordFile: string;
  /** The most that a unit of gas may cost, in wei. */
  readonly feeCap: bigint;
};

/**
 * Opens the admin's encrypted keystore. It sends nothing while gas costs more than the cap.
 * @throws Error that names the file but not the password
 */
export async function openContractAdmin(
  provider: JsonRpcApiProvider,
  { keystore, passwordFile, feeCap }: AdminOptions,
): Promise<ContractAdmin> {
  const wallet = await openWallet(keystore, passwordFile);
  const send = async (to: string | null, data: string) => {
    const fees = await affordableFees(provider, feeCap);
    return sendAndWait(provider, wallet.connect(provider), { to, data, ...fees });
  };
  const change = async (contract: string, method: string, values: readonly string[]): Promise<Done> => {
    const { hash } = await send(contract, callData(artefact, method, values));
    return { hash };
  };
  return {
    address: wallet.address,
    async deploy(name, symbol) {
      const { from, nonce, hash } = await send(null, deployData(artefact, [name, symbol, wallet.address]));
      return { contract: getCreateAddress({ from, nonce }), hash };
    },
    setBaseUri: (contract, base) => change(contract, 'setBaseURI', [base]),
    grantMinter: (contract, minter) => change(contract, 'grantRole', [minterRole, minter]),
    revokeMinter: (contract, minter) => change(contract, 'revokeRole', [minterRole, minter]),
  };
}

async function openWallet(keystore: string, passwordFile: string): Promise<Wallet> {
  const [text, password] = await Promise.all([readFile(keystore, 'utf8'), readFile(passwordFile, 'utf8')]);
  try {
    const { privateKey } = await Wallet.fromEncryptedJson(text, password.replace(/\r?\n$/, ''));
    return new Wallet(privateKey);
  } catch (cause) {
    throw new Error(`The keystore ${keystore} cannot be opened with the password in ${passwordFile}.`, {
      cause,
    });
  }
}

/**
 * Fees at the present price, as those of mints: left to itself, ethers pays whatever a node suggests.
 * @throws Error when the price is above the cap
 */
async function affordableFees(provider: JsonRpcApiProvider, cap: bigint): Promise<TransactionRequest> {
  const node = createMintNode(provider);
  const market = await node.market(await node.head());
  const fees = quote(market, cap);
  if (fees === undefined) {
    throw new Error(
      `Nothing is sent: gas costs ${inGwei(priceOf(market))} gwei, and MINT_MAX_FEE_GWEI allows ${inGwei(cap)}. ` +
        'Wait for lower prices, or run the command with a higher MINT_MAX_FEE_GWEI.',
    );
  }
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  return maxPriorityFeePerGas === null
    ? { type: 0, gasPrice: maxFeePerGas }
    : { type: 2, maxFeePerGas, maxPriorityFeePerGas };
}

const inGwei = (wei: bigint) => formatUnits(wei, 'gwei').replace(/\.0$/, '');

/**
 * @throws Error when the transaction is reverted, or is not seen in a block in time; it may be included later. The message names
 *   the transaction
 */
async function sendAndWait(provider: JsonRpcApiProvider, wallet: Wallet, transaction: TransactionRequest) {
  const sent = await wallet.sendTransaction(transaction);
  const deadline = performance.now() + patienceMs;
  let cause: unknown;
  while (performance.now() < deadline) {
    // It is sent: that nobody tells of it now must not look like that it is not.
    const receipt = await provider.getTransactionReceipt(sent.hash).catch((error: unknown) => {
      cause = error;
      return null;
    });
    if (receipt?.status === 0) throw new Error(`Transaction ${sent.hash} was reverted.`);
    if (receipt !== null) return sent;
    await pause(lookMs);
  }
  throw new Error(`Transaction ${sent.hash} has no block yet. Look for it before trying again.`, { cause });
}
