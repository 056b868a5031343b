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
import { priceOf, quote } from '../minting/fees.ts';
import { mostGas } from '../minting/gas.ts';
import { openWallet } from '../minting/key-signer.ts';
import { allTokens, encodeRefresh } from '../minting/mint-contract.ts';
import { createMintNode, type MintNode } from '../minting/mint-node.ts';
import { betterOffer, hintOf, looksBeforeReplacing, type Offer } from '../minting/refusal.ts';
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
// Slow networks have a block every 12 s; a transaction at the suggested fees is included within a few of them.
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
 * Sends a transaction as mints are sent: while nodes reject it, it is replaced at its nonce.
 * @throws Error when gas costs too much, nodes reject it at the cap, it is reverted, or it is not seen in a block in time;
 *   it may be included later. The message names the transaction
 */
async function sendAndWait(
  sending: Sending,
  call: Call,
): Promise<{ readonly nonce: bigint; readonly hash: string }> {
  const { feeCap, provider, wallet } = sending;
  const node = createMintNode(provider);
  const [chainId, nonce] = await Promise.all([
    node.chainId(),
    node.transactionCount(wallet.address, 'latest'),
  ]);
  const { market, mostGas: most, fees } = await pricesOf(sending, node);
  let offer: Offer = { fees, gasLimit: await enoughGas(sending, call) };
  const hashes: string[] = [];
  const deadline = performance.now() + patienceMs;
  let looks = 0;
  let words: string | undefined;
  let cause: unknown;
  while (performance.now() < deadline) {
    // It may be sent. That no node reports it now does not show that it is not sent.
    const found = await findReceipt(provider, hashes).catch((error: unknown) => {
      cause = error;
      return undefined;
    });
    if (found?.status === 0) throw new Error(`Transaction ${found.hash} was reverted.`);
    if (found !== undefined) return { nonce, hash: found.hash };
    if (hashes.length === 0 || words !== undefined) {
      const raw = await wallet.signTransaction({
        ...call,
        ...toFields(offer),
        chainId,
        nonce: Number(nonce),
      });
      const hash = Transaction.from(raw).hash ?? '';
      if (!hashes.includes(hash)) hashes.push(hash);
      const answer = await node.broadcast(raw);
      words =
        answer.isTaken || ['wait', 'nonce'].includes(hintOf(answer.words).first) ? undefined : answer.words;
    }
    if (words !== undefined) {
      looks += 1;
      await assertFunds(sending, node, offer);
      const better = betterOffer(offer, market, hintOf(words), { cap: feeCap, mostGas: most, looks });
      if (better === undefined && looks >= looksBeforeReplacing) throw refusedBy(words, feeCap);
      offer = better ?? offer;
    }
    await pause(lookMs);
  }
  throw new Error(`Transaction ${hashes.at(-1)} has no block yet. Look for it before trying again.`, {
    cause,
  });
}

const refusedBy = (words: string, cap: bigint) =>
  new Error(
    `The nodes refuse the transaction at ${inGwei(cap)} gwei, the most that MINT_MAX_FEE_GWEI allows: ${words}. ` +
      'Raise it, set the least tip that the nodes take (tallystick network update --min-tip), or name other nodes.',
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
  const { baseFee, suggested } = await node.market(head);
  const market = { baseFee, suggested: suggested > minTip ? suggested : minTip };
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
