import { Interface, id, type TransactionDescription, ZeroAddress, ZeroHash } from 'ethers';
import artefact from '../../../src/chain/contracts/artefacts/TallystickNft.json' with { type: 'json' };

/* What the NFT contract guarantees. `contract.test.ts` compares it with the contract itself. */

export const abi = new Interface(artefact.abi);
export const minterRole = id('MINTER_ROLE');

/** Never changed: a call returns another one. Addresses are in lower case. */
export type ContractState = {
  readonly admin: string;
  readonly minters: ReadonlySet<string>;
  /** By token id, decimal. */
  readonly owners: ReadonlyMap<string, string>;
};

export type Log = { readonly topics: readonly string[]; readonly data: string };

export type Outcome =
  | {
      readonly state: ContractState;
      readonly logs: readonly Log[];
      readonly gas: bigint;
      readonly data: string;
    }
  /** With the data of the revert. */
  | { readonly revert: string; readonly gas: bigint };

const parsed = new Map<string, TransactionDescription | null>();

/** Parses what a transaction calls. Nodes, chain and judge ask for the same. */
export function parseCall(data: string): TransactionDescription | null {
  const known = parsed.get(data);
  if (known !== undefined) return known;
  if (parsed.size > 1_000) parsed.clear();
  const call = data.length < 10 ? null : abi.parseTransaction({ data });
  parsed.set(data, call);
  return call;
}

/** What a call does. @param caller in lower case */
export function callContract(state: ContractState, caller: string, data: string): Outcome {
  const call = parseCall(data);
  const gas = intrinsicGas(data);
  if (call === null) return { revert: '0x', gas: gas + 300n };
  const run = functions[call.name];
  if (run === undefined) throw new Error(`the model has no ${call.name}`);
  const draft: Draft = {
    state: { ...state, minters: new Set(state.minters), owners: new Map(state.owners) },
    caller,
    logs: [],
    gas,
    data: '0x',
  };
  try {
    run(draft, call.args);
    return { state: draft.state, logs: draft.logs, gas: draft.gas, data: draft.data };
  } catch (error) {
    if (error instanceof Revert) return { revert: error.data, gas: draft.gas };
    throw error;
  }
}

/** What a transaction costs before any code runs. */
export function intrinsicGas(data: string): bigint {
  const bytes = data.slice(2).match(/../g) ?? [];
  return 21_000n + bytes.reduce((sum, byte) => sum + (byte === '00' ? 4n : 16n), 0n);
}

class Revert extends Error {
  readonly data: string;
  constructor(name: string, ...values: readonly unknown[]) {
    super(name);
    this.data = abi.encodeErrorResult(name, values);
  }
}

type Draft = {
  readonly state: { admin: string; minters: Set<string>; owners: Map<string, string> };
  readonly caller: string;
  readonly logs: Log[];
  gas: bigint;
  data: string;
};
type Args = { readonly [index: number]: unknown };
type Run = (draft: Draft, args: Args) => void;

const textOf = (value: unknown) => String(value).toLowerCase();
const word = (hex: string) => `0x${hex.replace(/^0x/, '').padStart(64, '0')}`;
const wordOf = (value: unknown) => word(BigInt(String(value)).toString(16));
const topicOf = (event: string) => abi.getEvent(event)?.topicHash ?? '';
const transferTopic = topicOf('Transfer');

function moved({ state, logs }: Draft, from: string, to: string, token: string): void {
  state.owners.set(token, to);
  logs.push({ topics: [transferTopic, word(from), word(to), wordOf(token)], data: '0x' });
}

function mintOne(draft: Draft, to: string, token: string): void {
  if (to === ZeroAddress) throw new Revert('ERC721InvalidReceiver', to);
  const isKnown = [...draft.state.owners.values()].includes(to);
  draft.gas += isKnown ? 29_500n : 46_600n;
  moved(draft, ZeroAddress, to, token);
}

function demandMinter({ state, caller }: Draft): void {
  if (!state.minters.has(caller)) throw new Revert('AccessControlUnauthorizedAccount', caller, minterRole);
}

function demandAdmin({ state, caller }: Draft): void {
  if (caller !== state.admin) throw new Revert('AccessControlUnauthorizedAccount', caller, ZeroHash);
}

/** Gives or takes the right to mint. Who has it already, or has it not, stays so without an event. */
function changeMinters(draft: Draft, [role, account]: readonly string[], isMinter: boolean): void {
  demandAdmin(draft);
  if (role !== minterRole || account === undefined) throw new Error('the model knows one role');
  const { minters } = draft.state;
  draft.gas += 6_000n;
  if (minters.has(account) === isMinter) return;
  draft.gas += isMinter ? 22_000n : 1_000n;
  if (isMinter) minters.add(account);
  else minters.delete(account);
  const event = topicOf(isMinter ? 'RoleGranted' : 'RoleRevoked');
  draft.logs.push({ topics: [event, minterRole, word(account), word(draft.caller)], data: '0x' });
}

const functions: Readonly<Record<string, Run>> = {
  mint(draft, args) {
    demandMinter(draft);
    const token = String(args[1]);
    if (textOf(args[0]) === ZeroAddress) throw new Revert('ERC721InvalidReceiver', ZeroAddress);
    // The model has no state between: a token that exists cannot be minted again.
    draft.gas += 5_000n;
    if (draft.state.owners.has(token)) throw new Revert('ERC721InvalidSender', ZeroAddress);
    mintOne(draft, textOf(args[0]), token);
  },
  mintBatch(draft, args) {
    demandMinter(draft);
    const [recipients, ids] = [args[0], args[1]] as readonly (readonly unknown[])[];
    if (recipients === undefined || ids === undefined || recipients.length !== ids.length)
      throw new Revert('LengthMismatch', recipients?.length ?? 0, ids?.length ?? 0);
    draft.gas += 3_500n;
    for (const [index, token] of ids.entries()) {
      draft.gas += 2_600n;
      if (!draft.state.owners.has(String(token))) mintOne(draft, textOf(recipients[index]), String(token));
    }
  },
  ownerOf(draft, args) {
    const owner = draft.state.owners.get(String(args[0]));
    if (owner === undefined) throw new Revert('ERC721NonexistentToken', args[0]);
    draft.data = word(owner);
  },
  transferFrom(draft, args) {
    const [from, to, token] = [textOf(args[0]), textOf(args[1]), String(args[2])];
    if (to === ZeroAddress) throw new Revert('ERC721InvalidReceiver', to);
    const owner = draft.state.owners.get(token);
    if (owner === undefined) throw new Revert('ERC721NonexistentToken', token);
    if (owner !== draft.caller) throw new Revert('ERC721InsufficientApproval', draft.caller, token);
    if (owner !== from) throw new Revert('ERC721IncorrectOwner', from, token, owner);
    draft.gas += 20_000n;
    moved(draft, from, to, token);
  },
  refreshMetadata(draft, args) {
    if (!draft.state.minters.has(draft.caller)) demandAdmin(draft);
    draft.gas += 5_000n;
    const [from, to] = [args[0], args[1]];
    const isOne = from === to;
    const topic = topicOf(isOne ? 'MetadataUpdate' : 'BatchMetadataUpdate');
    const data = isOne ? wordOf(from) : `${wordOf(from)}${wordOf(to).slice(2)}`;
    draft.logs.push({ topics: [topic], data });
  },
  grantRole: (draft, args) => changeMinters(draft, [String(args[0]), textOf(args[1])], true),
  revokeRole: (draft, args) => changeMinters(draft, [String(args[0]), textOf(args[1])], false),
  hasRole(draft, args) {
    const isMinter = String(args[0]) === minterRole && draft.state.minters.has(textOf(args[1]));
    const isAdmin = String(args[0]) === ZeroHash && draft.state.admin === textOf(args[1]);
    draft.data = wordOf(isMinter || isAdmin ? 1 : 0);
  },
};
