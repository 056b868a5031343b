import { setTimeout as pause } from 'node:timers/promises';
import {
  getCreateAddress,
  id,
  type JsonRpcApiProvider,
  Transaction,
  type TransactionRequest,
  type Wallet,
} from 'ethers';
import { formatUnits } from '../decimal.ts';
import { priceOf, quote, withTip } from '../minting/fees.ts';
import { mostGas } from '../minting/gas.ts';
import { openWallet } from '../minting/key-signer.ts';
import { allTokens, encodeRefresh } from '../minting/mint-contract.ts';
import { createMintNode, type MintNode } from '../minting/mint-node.ts';
import {
  betterOffer,
  hasUnmetFigure,
  hintOf,
  isSettled,
  type Offer,
  type RefusalHint,
} from '../minting/refusal.ts';
import { nodeMessage } from '../rpc/transport/node-message.ts';
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
  /** Reports to marketplaces that the metadata of all tokens changed (ERC-4906). */
  refreshMetadata(contract: string): Promise<Done>;
  grantMinter(contract: string, minter: string): Promise<Done>;
  revokeMinter(contract: string, minter: string): Promise<Done>;
};

/** The transaction that did it. */
type Done = { readonly hash: string };

const minterRole = id('MINTER_ROLE');
// Slow networks have a block every 12 s; a transaction at the suggested fees is included within a few blocks.
const patienceMs = 180_000;
const lookMs = 500;

type AdminOptions = {
  readonly keystore: string;
  readonly passwordFile: string;
  /** The most that a unit of gas may cost, in wei. */
  readonly feeCap: bigint;
  /** The least tip, in wei. */
  readonly minTip: bigint;
};

/**
 * Opens the admin's encrypted keystore. It sends nothing while gas costs more than the cap.
 * @throws Error that names the file but not the password
 */
export async function openContractAdmin(
  provider: JsonRpcApiProvider,
  { keystore, passwordFile, ...prices }: AdminOptions,
): Promise<ContractAdmin> {
  const wallet = await openWallet(keystore, passwordFile);
  const send = (to: string | null, data: string) =>
    sendAndWait({ provider, wallet, ...prices }, { to, data });
  const call = async (contract: string, data: string): Promise<Done> => {
    const { hash } = await send(contract, data);
    return { hash };
  };
  const change = (contract: string, method: string, values: readonly string[]) =>
    call(contract, callData(artefact, method, values));
  return {
    address: wallet.address,
    async deploy(name, symbol) {
      const { nonce, hash } = await send(null, deployData(artefact, [name, symbol, wallet.address]));
      return { contract: getCreateAddress({ from: wallet.address, nonce }), hash };
    },
    setBaseUri: (contract, base) => change(contract, 'setBaseURI', [base]),
    refreshMetadata: (contract) => call(contract, encodeRefresh(allTokens)),
    grantMinter: (contract, minter) => change(contract, 'grantRole', [minterRole, minter]),
    revokeMinter: (contract, minter) => change(contract, 'revokeRole', [minterRole, minter]),
  };
}

type Sending = {
  readonly provider: JsonRpcApiProvider;
  readonly wallet: Wallet;
  /** In wei. */
  readonly feeCap: bigint;
  readonly minTip: bigint;
};

type Call = { readonly to: string | null; readonly data: string };

/**
 * Sends a transaction, and waits for its block. It is replaced at its nonce where nodes reject it and name what they want.
 * @throws Error when gas costs too much, nodes reject it, it is reverted, or it is not seen in a block in time; it may be
 *   included later. The message names the transaction
 */
async function sendAndWait(
  sending: Sending,
  call: Call,
): Promise<{ readonly nonce: bigint; readonly hash: string }> {
  const { provider, wallet } = sending;
  const node = createMintNode(provider);
  const [chainId, nonce] = await Promise.all([
    node.chainId(),
    node.transactionCount(wallet.address, 'latest'),
  ]);
  const hashes = await broadcast(sending, node, { ...call, chainId, nonce: Number(nonce) });
  const deadline = performance.now() + patienceMs;
  let cause: unknown;
  while (performance.now() < deadline) {
    const found = await findReceipt(provider, hashes).catch((error: unknown) => {
      cause = error;
      return undefined;
    });
    if (found?.status === 0) throw new Error(`Transaction ${found.hash} was reverted.`);
    if (found !== undefined) return { nonce, hash: found.hash };
    await pause(lookMs);
  }
  throw new Error(`Transaction ${hashes.at(-1)} has no block yet. Look for it before trying again.`, {
    cause,
  });
}

type Unpriced = Call & { readonly chainId: bigint; readonly nonce: number };

/**
 * Broadcasts a transaction until a node takes it.
 * @returns the hashes of all transactions that were sent: also a rejected transaction may get a block
 */
async function broadcast(sending: Sending, node: MintNode, unpriced: Unpriced): Promise<string[]> {
  const { feeCap, wallet } = sending;
  const { market, mostGas: most, fees } = await pricesOf(sending, node);
  let offer: Offer = { fees, gasLimit: await enoughGas(sending, unpriced) };
  const hashes: string[] = [];
  for (;;) {
    const raw = await wallet.signTransaction({ ...unpriced, ...toFields(offer) });
    const hash = Transaction.from(raw).hash ?? '';
    hashes.push(hash);
    const { isTaken, words } = await node.broadcast(raw);
    if (isTaken || isSettled(words)) return hashes;
    await assertFunds(sending, node, offer);
    const hint = hintOf(words);
    const bounds = { cap: feeCap, mostGas: most };
    const better = namesWhatItTakes(hint, offer) ? betterOffer(offer, market, hint, bounds) : undefined;
    if (better === undefined) throw rejectedBy(words, hash);
    offer = better;
  }
}

/** Whether a text names a price, gas or type that the offer does not have. Nothing else is tried: a person reads the text. */
const namesWhatItTakes = (hint: RefusalHint, offer: Offer): boolean =>
  hint.first === 'type'
    ? offer.fees.maxPriorityFeePerGas !== null
    : hint.first !== 'size' && hasUnmetFigure(hint, offer);

const rejectedBy = (words: string, hash: string) =>
  new Error(
    `The nodes reject transaction ${hash}: ${words}. Set the least tip that they take (tallystick network update ` +
      '--min-tip), raise MINT_MAX_FEE_GWEI, or name other nodes. Look for the transaction before trying again.',
  );

async function findReceipt(provider: JsonRpcApiProvider, hashes: readonly string[]) {
  const receipts = await Promise.all(hashes.map((hash) => provider.getTransactionReceipt(hash)));
  return receipts.find((receipt) => receipt !== null) ?? undefined;
}

function toFields({ fees: { maxFeePerGas, maxPriorityFeePerGas }, gasLimit }: Offer): TransactionRequest {
  return maxPriorityFeePerGas === null
    ? { type: 0, gasLimit, gasPrice: maxFeePerGas }
    : { type: 2, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
}

/** @throws Error when the price is above the cap */
async function pricesOf({ feeCap, minTip }: Sending, node: MintNode) {
  const head = await node.head();
  const market = withTip(await node.market(head), minTip);
  const fees = quote(market, feeCap);
  if (fees === undefined) {
    throw new Error(
      `Nothing is sent: gas costs ${inGwei(priceOf(market))} gwei, and MINT_MAX_FEE_GWEI allows ${inGwei(feeCap)}. ` +
        'Wait for lower prices, or run the command with a higher MINT_MAX_FEE_GWEI.',
    );
  }
  return { market, fees, mostGas: mostGas({ blockGasLimit: head.gasLimit, blockShare: 100 }) };
}

/** @throws Error in the words of the contract or the nodes */
async function enoughGas({ provider, wallet }: Sending, call: Call): Promise<bigint> {
  try {
    return ((await provider.estimateGas({ ...call, from: wallet.address })) * 9n) / 8n;
  } catch (cause) {
    const words = nodeMessage(cause).slice(0, 300);
    throw new Error(`Nothing is sent: the transaction would fail. ${words}`, { cause });
  }
}

/** @throws Error when the account cannot pay for the transaction */
async function assertFunds(
  { wallet: { address } }: Sending,
  node: MintNode,
  { fees, gasLimit }: Offer,
): Promise<void> {
  const [balance, most] = [await node.balance(address), gasLimit * fees.maxFeePerGas];
  if (balance < most)
    throw new Error(`${address} has ${balance} wei, and the transaction may cost ${most}: send it funds.`);
}

const inGwei = (wei: bigint) => formatUnits(wei, 9);
