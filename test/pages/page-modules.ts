/** The folder of the pages, which are plain JavaScript for browsers. */
export const pagesFolder = new URL('../../src/pages/', import.meta.url);

/** A module of a page, such as `claim/link.js`. The caller names the types of what it takes. */
export const pageModule = (name: string): Promise<unknown> => import(new URL(name, pagesFolder).href);

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
  loadTexts(load: (language: string) => unknown, wanted: readonly string[]): Promise<void>;
  whenOf(seconds: number): string;
  momentOf(iso: string): string;
  timeOf(iso: string, now: Date): string;
};

export type Texts = Readonly<Record<string, string>>;

export const languages = ['en', 'de', 'fr', 'es', 'pt'] as const;

/** The pages that are in each language. */
export const pages = ['claim', 'door', 'ticket'] as const;
export type PageName = (typeof pages)[number];

export async function textsOf(language: string, page: PageName = 'claim'): Promise<Texts> {
  const { texts } = (await pageModule(`${page}/text-${language}.js`)) as { texts: Texts };
  return texts;
}
