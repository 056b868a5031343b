import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import type { ClaimSecretVault } from '../../rwa/assets/claim-secret.ts';
import { issueNfts } from '../../rwa/assets/nft-issuer.ts';
import type { RwaInput } from '../../rwa/assets/rwa-input.ts';
import { createRwa } from '../../rwa/operators/rwa-admin-store.ts';

type SampleAsset = Pick<RwaInput, 'name' | 'description' | 'type' | 'isBuyable' | 'isClaimable' | 'data'> & {
  readonly price?: string;
  readonly imageUrl?: string;
  readonly nfts: number;
};

export type AssetPlace = {
  readonly companyId: string;
  readonly chainId: string;
  /** The NFT contract that the minter may use; EIP-55. */
  readonly contractAddress: string;
};

/** Assets of a company with their NFTs, which are not minted. */
export async function addAssets(
  db: Database,
  vault: ClaimSecretVault,
  { companyId, ...where }: AssetPlace,
  assets: readonly SampleAsset[],
): Promise<void> {
  for (const { nfts, price = null, imageUrl = null, ...asset } of assets) {
    const currency = price === null ? null : 'EUR';
    const input = { ...asset, ...where, price, currency, imageUrl, claimPage: true, claimBaseUrl: null };
    const { id } = await createRwa(db, companyId, input);
    await inTransaction(db, (tx) => issueNfts(tx, vault, { companyId, rwaId: id, count: nfts }));
  }
}

export const acmeAssets: readonly SampleAsset[] = [
  {
    name: 'Islay single malt, cask 117',
    description: 'One bottle of a first-fill sherry cask, laid down in 2014.',
    type: 'spirits',
    isBuyable: true,
    isClaimable: true,
    price: '240.00',
    imageUrl: 'https://images.example/cask-117.jpg',
    data: { distillery: 'Port Ellen Road', filled: '2014-03-09', abv: '57.1', bottles: 320 },
    nfts: 12,
  },
  {
    name: 'Rioja Gran Reserva 2016',
    description: 'Sold over the counter; the NFT stays with the seller until the bottle is opened.',
    type: 'wine',
    isBuyable: true,
    isClaimable: false,
    price: '68.50',
    data: { vineyard: 'Finca Alta', bottles: 1200 },
    nfts: 8,
  },
  {
    name: 'Cask owners badge',
    description: 'Given to those who own a cask.',
    type: 'membership',
    isBuyable: false,
    isClaimable: true,
    imageUrl: 'https://images.example/owners-badge.png',
    data: { season: '2026/27' },
    nfts: 10,
  },
  {
    name: 'Archive bottling 1998',
    description: 'Not for sale and not to be claimed.',
    type: 'spirits',
    isBuyable: false,
    isClaimable: false,
    data: { shelf: 'C-14' },
    nfts: 3,
  },
];

export const globexAssets: readonly SampleAsset[] = [
  {
    name: 'Évora solar park, share of one panel',
    description: 'A panel of 540 W and what it earns.',
    type: 'energy',
    isBuyable: true,
    isClaimable: true,
    price: '410.00',
    imageUrl: 'https://images.example/solar-panel.jpg',
    data: { site: { country: 'PT', municipality: 'Évora' }, watts: 540 },
    nfts: 15,
  },
  {
    name: 'Rua Augusta 12, one of a thousand parts',
    description: null,
    type: 'property',
    isBuyable: true,
    isClaimable: false,
    price: '1250.00',
    data: { parts: 1000, floorArea: { value: 412, unit: 'm2' } },
    nfts: 6,
  },
  {
    name: 'Founding investor certificate',
    description: 'For the first hundred.',
    type: 'membership',
    isBuyable: false,
    isClaimable: true,
    data: null,
    nfts: 5,
  },
  {
    name: 'Decommissioned turbine 3',
    description: 'Kept for the record.',
    type: 'energy',
    isBuyable: false,
    isClaimable: false,
    data: { decommissioned: '2025-11-30' },
    nfts: 2,
  },
];
