import collectible from '../../chain/contracts/artefacts/SampleCollectible.json' with { type: 'json' };
import edition from '../../chain/contracts/artefacts/SampleEdition.json' with { type: 'json' };
import forgery from '../../chain/contracts/artefacts/SampleForgery.json' with { type: 'json' };
import splitter from '../../chain/contracts/artefacts/SampleSplitter.json' with { type: 'json' };
import token from '../../chain/contracts/artefacts/SampleToken.json' with { type: 'json' };
import nft from '../../chain/contracts/artefacts/TallystickNft.json' with { type: 'json' };
import type { ContractArtefact } from '../../chain/contracts/contract-calls.ts';

/** The contracts of the sample world, by the names under which people find their addresses. */
export const worldContracts = {
  SampleToken: token,
  SampleCollectible: collectible,
  SampleEdition: edition,
  SampleSplitter: splitter,
  TallystickNft: nft,
  SampleForgery: forgery,
} as const satisfies Record<string, ContractArtefact>;

export type ContractName = keyof typeof worldContracts;
/** EIP-55 addresses. */
export type ContractAddresses = Readonly<Record<ContractName, string>>;

/** The account of each part. All are the chain's own funded accounts; EIP-55 addresses. */
export type Cast = {
  /** Deploys and administers the contracts. */
  readonly operator: string;
  /** May mint NFTs of assets, and nothing else. */
  readonly minter: string;
  readonly acmeTreasury: string;
  readonly globexTreasury: string;
  /** Six people without a company. */
  readonly people: readonly string[];
};

export const walletsOf = (cast: Cast): string[] => [cast.acmeTreasury, cast.globexTreasury, ...cast.people];
