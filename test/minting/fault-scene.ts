import type { Chance } from './chance.ts';
import type { MintSetup } from './mint-setup.ts';
import type { SequenceNetwork } from './node-qualities.ts';

/** What faults act on. */
export type Scene = {
  readonly setup: MintSetup;
  readonly chance: Chance;
  readonly network: SequenceNetwork;
  /** The NFTs that were accepted; faults accept more, and a restored database has fewer. */
  readonly ids: string[];
  /** The folder of the oldest release, where its workers take part. */
  readonly release: string | undefined;
  readonly codes: ContractCodes;
  /** The newest block when the sequence began: the chain loses none of those before. */
  readonly base: bigint;
  /** What went wrong for good, until an operator does something about it. */
  readonly happened: { hasLostBlocks: boolean; hasOddContract: boolean };
};

/** The code of our contract, and of others that do not do what they are asked for. */
export type ContractCodes = {
  readonly own: string;
  readonly idle: string;
  readonly generous: string;
};

/** Lets one thing go wrong, or right again. @returns what it was, in words */
export type Fault = (scene: Scene) => Promise<string>;

export const plenty = '0x56bc75e2d63100000';
