import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { AbiCoder, getAddress, getCreateAddress, id, type JsonRpcApiProvider, Wallet } from 'ethers';
import { callContract } from '../rpc/contract-call.ts';
import artefact from './artefacts/TallystickNft.json' with { type: 'json' };
import { callData, deployData } from './contract-calls.ts';

/** The account that deploys and administers an NFT contract. It is never the key of a minter. */
export type ContractAdmin = {
  /** EIP-55. */
  readonly address: string;
  /** Deploys a contract with this account as its admin. @returns the EIP-55 address of the contract */
  deploy(name: string, symbol: string): Promise<string>;
  /** Sets the base of the token URIs of a contract. */
  setBaseUri(contract: string, base: string): Promise<void>;
  grantMinter(contract: string, minter: string): Promise<void>;
  revokeMinter(contract: string, minter: string): Promise<void>;
};

const minterRole = id('MINTER_ROLE');
// Slow networks have a block every 12 s; a transaction at the suggested fees is included within a few of them.
const patienceMs = 180_000;
const lookMs = 500;

/**
 * Opens the admin's encrypted keystore.
 * @throws Error that names the file but not the password
 */
export async function openContractAdmin(
  provider: JsonRpcApiProvider,
  { keystore, passwordFile }: { readonly keystore: string; readonly passwordFile: string },
): Promise<ContractAdmin> {
  const wallet = await openWallet(keystore, passwordFile);
  const send = (to: string | null, data: string) => sendAndWait(provider, wallet.connect(provider), to, data);
  return {
    address: wallet.address,
    async deploy(name, symbol) {
      const { from, nonce } = await send(null, deployData(artefact, [name, symbol, wallet.address]));
      return getCreateAddress({ from, nonce });
    },
    async setBaseUri(contract, base) {
      await send(contract, callData(artefact, 'setBaseURI', [base]));
    },
    async grantMinter(contract, minter) {
      await send(contract, callData(artefact, 'grantRole', [minterRole, minter]));
    },
    async revokeMinter(contract, minter) {
      await send(contract, callData(artefact, 'revokeRole', [minterRole, minter]));
    },
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

/** @throws Error when the transaction is reverted, or is not included in time; it may be included later */
async function sendAndWait(provider: JsonRpcApiProvider, wallet: Wallet, to: string | null, data: string) {
  const sent = await wallet.sendTransaction({ to, data });
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    const receipt = await provider.getTransactionReceipt(sent.hash);
    if (receipt?.status === 0) throw new Error(`Transaction ${sent.hash} was reverted.`);
    if (receipt !== null) return sent;
    await pause(lookMs);
  }
  throw new Error(`Transaction ${sent.hash} has no block yet. Look for it before trying again.`);
}

/** One thing that minting needs of a contract; `unknown` when a call cannot tell. */
export type ContractCheck = {
  readonly check: string;
  readonly state: 'ok' | 'FAULT' | 'unknown';
  readonly detail: string;
};

/** Checks whether NFTs can be minted on a contract; names what only its source can show. */
export async function checkContract(
  provider: JsonRpcApiProvider,
  contract: string,
  minters: readonly string[],
): Promise<ContractCheck[]> {
  const code = await provider.getCode(contract);
  if (code === '0x')
    return [{ check: 'code', state: 'FAULT', detail: `There is no contract at ${contract}.` }];
  const ask = (method: string, args: readonly unknown[], from?: string) =>
    callContract(
      provider,
      { to: getAddress(contract), data: callData(artefact, method, args), ...(from && { from }) },
      'latest',
    );
  const isErc721 = await ask('supportsInterface', ['0x80ac58cd']);
  const checks: ContractCheck[] = [
    { check: 'code', state: 'ok', detail: `${(code.length - 2) / 2} bytes` },
    isTrue(isErc721)
      ? { check: 'ERC-721', state: 'ok', detail: 'it says that it is one' }
      : { check: 'ERC-721', state: 'FAULT', detail: 'it does not say that it is one (ERC-165)' },
  ];
  // The highest possible id, which we never assign: a call that skips an existing id would look like a permitted mint.
  const token = 2n ** 256n - 1n;
  for (const minter of minters) {
    const mints = await ask('mintBatch', [[minter], [token]], minter);
    checks.push(
      mints === undefined
        ? {
            check: `minter ${minter}`,
            state: 'FAULT',
            detail: 'its mintBatch(address[],uint256[]) is refused',
          }
        : { check: `minter ${minter}`, state: 'ok', detail: 'it may mint' },
    );
  }
  return [...checks, secondMint(code)];
}

const burns = ['42966c68', '9dc29fac', '79cc6790'];

/** Only the source shows whether an id can be minted twice; a function that burns is a sign of it. */
function secondMint(code: string): ContractCheck {
  const check = 'second mint';
  if (code.slice(2) === deployedCode()) {
    return { check, state: 'ok', detail: 'it is our own contract, which refuses it for ever' };
  }
  const detail = burns.some((selector) => code.includes(selector))
    ? 'it seems to have a burn: read its source for whether a burnt id can be minted again, and do not use it then'
    : 'read its source: it must refuse a second mint of an id for ever, and pass over it in a batch';
  return { check, state: 'unknown', detail };
}

// Creation code ends with the runtime code; ours contains no immutable values.
function deployedCode(): string {
  const marker = artefact.bytecode.indexOf('f3fe');
  return artefact.bytecode.slice(marker + 4);
}

const isTrue = (data: string | undefined) =>
  data !== undefined && data.length === 66 && AbiCoder.defaultAbiCoder().decode(['bool'], data)[0] === true;
