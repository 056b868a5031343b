import { randomUUID } from 'node:crypto';
import type { Tx } from '../../contract/transaction.ts';
import { problem } from '../../errors.ts';
import type { ClaimSecretVault } from './claim-secret.ts';
import type { NewNft, Nft, NftStore } from './nft-store.ts';
import type { Rwa } from './rwa-row.ts';
import type { RwaStore } from './rwa-store.ts';
import { tokenIdOf } from './token-id.ts';

type Issue = {
  readonly companyId: string;
  readonly rwaId: string;
  readonly count: number;
};

type Issued = {
  readonly rwa: Rwa;
  /** By serial. */
  readonly nfts: readonly Nft[];
};

export type NftIssuer = {
  /**
   * Makes NFTs with the next serials and new secrets, in one statement.
   * @throws problem `rwa_not_found` when the company has no such RWA
   */
  issue(tx: Tx, wanted: Issue): Promise<Issued>;
};

type Deps = {
  readonly rwas: RwaStore;
  readonly nfts: NftStore;
  readonly vault: ClaimSecretVault;
};

export function createNftIssuer({ rwas, nfts, vault }: Deps): NftIssuer {
  const prepare = (rwa: Rwa, serial: bigint): NewNft => {
    const id = randomUUID();
    return {
      id,
      companyId: rwa.companyId,
      rwaId: rwa.id,
      rwaNumber: rwa.number,
      serial,
      tokenId: tokenIdOf({ rwaNumber: rwa.number, serial }),
      sealed: vault.seal(id, vault.generate()),
    };
  };

  return {
    async issue(tx, { companyId, rwaId, count }) {
      const taken = await rwas.takeSerials(tx, companyId, rwaId, count);
      if (taken === undefined) throw problem('rwa_not_found');
      const { rwa, firstSerial } = taken;
      const wanted = Array.from({ length: count }, (_, index) => prepare(rwa, firstSerial + BigInt(index)));
      const made = await nfts.insert(tx, wanted);
      return { rwa, nfts: made.toSorted((one, other) => (one.serial < other.serial ? -1 : 1)) };
    },
  };
}
