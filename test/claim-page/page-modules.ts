/** A module of the claim page, which is plain JavaScript for browsers. The caller names the types of what it takes. */
export const pageModule = (name: string): Promise<unknown> =>
  import(new URL(`../../src/claim-page/${name}`, import.meta.url).href);

type Reading = {
  readonly address?: string;
  readonly fault?: string;
  readonly values?: Readonly<Record<string, unknown>>;
};

export type AddressModule = {
  readAddress(text: string, nft: { chainId: number; contractAddress: string }): Reading;
  hasChecksum(text: string): boolean;
};

export type LinkModule = {
  readLink(address: { pathname: string; hash: string }): {
    nftId?: string;
    secret?: string;
    isBare?: boolean;
  };
};

export type TextsModule = {
  loadTexts(wanted: readonly string[]): Promise<void>;
  whenOf(seconds: number): string;
  momentOf(iso: string): string;
};

export type Texts = Readonly<Record<string, string>>;

export const languages = ['en', 'de', 'fr', 'es', 'pt'] as const;

export async function textsOf(language: string): Promise<Texts> {
  const { texts } = (await pageModule(`text-${language}.js`)) as { texts: Texts };
  return texts;
}
