import { z } from 'zod';
import type { LocalChain } from '../programs/chain.ts';
import { LocalError } from '../programs/local-error.ts';
import {
  emptyLocalFolder,
  hasRemains,
  type LocalFolder,
  readJson,
  writeJson,
} from '../programs/local-folder.ts';
import { headOf, type WorldChain } from './sample-chain.ts';
import type { WorldKeys } from './sample-data.ts';

// Raised when worlds of the version before cannot be used as they are. A step that converts them is added then, or
// the person is asked for --fresh.
const worldVersion = 1;

const shape = z.object({
  version: z.literal(worldVersion),
  /** The newest block of the chain when the world was complete. */
  head: z.object({ number: z.string(), hash: z.string() }),
  cast: z.object({
    operator: z.string(),
    minter: z.string(),
    acmeTreasury: z.string(),
    globexTreasury: z.string(),
    people: z.array(z.string()),
  }),
  addresses: z.object({
    SampleToken: z.string(),
    SampleCollectible: z.string(),
    SampleEdition: z.string(),
    SampleSplitter: z.string(),
    TallystickNft: z.string(),
    // Worlds of release 0.1.0 have none.
    SampleForgery: z.string().default(''),
  }),
  keys: z.object({ acme: z.string(), globex: z.string(), noCompany: z.string() }),
  /** The service's address that the NFT contract refers to. */
  baseUrl: z.string(),
});

/** A complete sample world. Its file is written last, so where it exists everything else is complete. */
export type World = WorldChain & { readonly keys: WorldKeys; readonly baseUrl: string };

const again = 'Start again with: npm start -- --fresh';

/**
 * The complete world of the folder. Without one, or when `fresh`, the folder is emptied.
 * @returns undefined when the folder is empty now
 * @throws LocalError when the world is of another version or cannot be read
 */
export function takeUpWorld(
  folder: LocalFolder,
  fresh: boolean,
  print: (line: string) => void,
): World | undefined {
  if (fresh) {
    emptyLocalFolder(folder);
    return undefined;
  }
  const content = readJson(folder.sample);
  if (content === undefined) {
    if (hasRemains(folder)) print('The first start was interrupted. This start begins again.');
    emptyLocalFolder(folder);
    return undefined;
  }
  const { version } = z.object({ version: z.int() }).catch({ version: 0 }).parse(content);
  if (version > worldVersion) {
    throw new LocalError(`This world was made by a later version of Tallystick. Use that one. ${again}`);
  }
  const read = shape.safeParse(content);
  if (!read.success) throw new LocalError(`${folder.sample} cannot be read. ${again}`);
  return read.data;
}

export function keepWorld(folder: LocalFolder, world: World): void {
  writeJson(folder.sample, { version: worldVersion, ...world });
}

/** @throws LocalError when the chain lacks the block that was its newest when the world was complete */
export async function assertSameChain({ rpc }: LocalChain, { head }: World): Promise<void> {
  const block = await rpc.call('eth_getBlockByNumber', head.number, false);
  const found = z.object({ hash: z.string() }).safeParse(block);
  if (found.data?.hash === head.hash) return;
  const { number } = await headOf(rpc);
  throw new LocalError(
    `The local chain is not the one of this world: its block ${BigInt(head.number)} differs (it has ${BigInt(number)}). ${again}`,
  );
}
