import { AbiCoder, getAddress, isHexString, type JsonRpcApiProvider, keccak256 } from 'ethers';
import { readContract } from '../rpc/client/contract-call.ts';
import artefact from './artefacts/TallystickNft.json' with { type: 'json' };
import { callData } from './contract-calls.ts';

/** One thing that minting needs of a contract; `unknown` when a call does not show it. */
export type ContractCheck = {
  readonly check: string;
  readonly state: 'ok' | 'FAULT' | 'unknown';
  readonly detail: string;
};

/**
 * - `fit`: NFTs can be minted on it, as far as calls show;
 * - `forbidden`: it is an NFT contract, and none of the signers may mint on it;
 * - `unfit`: there is no NFT contract at the address.
 */
export type ContractVerdict = 'fit' | 'forbidden' | 'unfit';

/** @param minters addresses of signers; without any, nobody's right to mint is examined */
export async function judgeContract(
  provider: JsonRpcApiProvider,
  contract: string,
  minters: readonly string[],
): Promise<{ readonly verdict: ContractVerdict; readonly detail: string }> {
  const checks = await checkContract(provider, contract, minters);
  const fault = checks.find(({ check, state }) => !isOfMinter(check) && state === 'FAULT');
  if (fault !== undefined) return { verdict: 'unfit', detail: fault.detail };
  const ofMinters = checks.filter(({ check }) => isOfMinter(check));
  if (ofMinters.length > 0 && ofMinters.every(({ state }) => state === 'FAULT')) {
    const detail = `None of the signers may mint on it (${minters.join(', ')}): tallystick contract grant.`;
    return { verdict: 'forbidden', detail };
  }
  return { verdict: 'fit', detail: 'It is an NFT contract.' };
}

/** Whether there is a contract at the address. */
export const hasCode = async (provider: JsonRpcApiProvider, contract: string): Promise<boolean> =>
  (await provider.getCode(contract)) !== '0x';

/** Whether the address is a contract's, and not that of a wallet which delegates to a contract (EIP-7702). */
export const isContract = async (provider: JsonRpcApiProvider, address: string): Promise<boolean> =>
  !/^0x(ef0100[0-9a-f]{40})?$/i.test(await provider.getCode(address));

/**
 * Checks whether NFTs can be minted on a contract; names what only its source can show.
 * @throws NodesUnavailableError when no node answers
 */
export async function checkContract(
  provider: JsonRpcApiProvider,
  contract: string,
  minters: readonly string[],
): Promise<ContractCheck[]> {
  const code = await provider.getCode(contract);
  if (code === '0x')
    return [{ check: 'code', state: 'FAULT', detail: `There is no contract at ${contract}.` }];
  const ask: Ask = (method, args, from) =>
    readContract(
      provider,
      { to: getAddress(contract), data: callData(artefact, method, args), ...(from && { from }) },
      'latest',
    );
  return [
    { check: 'code', state: 'ok', detail: `${(code.length - 2) / 2} bytes` },
    await checkStandard(ask),
    ...(await Promise.all(minters.map((minter) => checkMinter(ask, minter)))),
    secondMint(code),
  ];
}

type Ask = (method: string, args: readonly unknown[], from?: string) => Promise<string | undefined>;

// The highest possible id, which we never assign: a call that skips an existing id would pass for a permitted mint.
const unusedToken = 2n ** 256n - 1n;

/** ERC-165 wants false for the id 0xffffffff: a fallback that answers anything is seen by that. */
async function checkStandard(ask: Ask): Promise<ContractCheck> {
  const check = 'ERC-721';
  const isErc721 = await ask('supportsInterface', ['0x80ac58cd']);
  if (!isTrue(isErc721))
    return { check, state: 'FAULT', detail: 'It does not say that it is an ERC-721 (ERC-165).' };
  const isAnything = await ask('supportsInterface', ['0xffffffff']);
  if (isTrue(isAnything)) {
    return { check, state: 'FAULT', detail: 'It says yes to every question, so it is no ERC-721 (ERC-165).' };
  }
  const owner = await ask('ownerOf', [unusedToken]);
  if (owner !== undefined && !isHexString(owner, 32)) {
    return { check, state: 'FAULT', detail: 'Its ownerOf(uint256) gives no address, so it is no ERC-721.' };
  }
  return { check, state: 'ok', detail: 'it says that it is one' };
}

const minterCheck = 'minter ';
const isOfMinter = (check: string) => check.startsWith(minterCheck);

async function checkMinter(ask: Ask, minter: string): Promise<ContractCheck> {
  const check = `${minterCheck}${minter}`;
  const mints = await ask('mintBatch', [[minter], [unusedToken]], minter);
  return mints === undefined
    ? { check, state: 'FAULT', detail: 'Its mintBatch(address[],uint256[]) is refused.' }
    : { check, state: 'ok', detail: 'it may mint' };
}

const burns = ['42966c68', '9dc29fac', '79cc6790'];

/** Only the source shows whether an id can be minted twice; a function that burns is a sign of it. */
function secondMint(code: string): ContractCheck {
  const check = 'second mint';
  if (isOwnCode(code)) {
    return { check, state: 'ok', detail: 'it is our own contract, which refuses it for ever' };
  }
  const detail = burns.some((selector) => code.includes(selector))
    ? 'it seems to have a burn: read its source for whether a burnt id can be minted again, and do not use it then'
    : 'read its source: it must refuse a second mint of an id for ever, and pass over it in a batch';
  return { check, state: 'unknown', detail };
}

// As release 0.1.0 compiled it. It differs only in who may report changed metadata.
const hashesOfOlderCode = ['0x51753870a45e14e0873e90f207b96c6eb36825c2cdb0d95e6b4555da640fb789'];

/** Whether a contract has our code, as this release or an earlier release compiled it. */
export const isOwnCode = (code: string): boolean =>
  code.slice(2) === deployedCode() || hashesOfOlderCode.includes(keccak256(code));

// Creation code ends with the runtime code; ours contains no immutable values.
function deployedCode(): string {
  const marker = artefact.bytecode.indexOf('f3fe');
  return artefact.bytecode.slice(marker + 4);
}

const isTrue = (data: string | undefined) =>
  data !== undefined && data.length === 66 && AbiCoder.defaultAbiCoder().decode(['bool'], data)[0] === true;
