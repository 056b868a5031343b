import { inTime } from '../../base/in-time.ts';
import type { Logger } from '../../base/log.ts';
import { errorText } from '../../base/thrown.ts';
import type { MintSigner } from '../../chain/minting/signer.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { Database } from '../../contract/transaction.ts';
import { notRegistered } from '../minting/mint-reason.ts';
import type { Lane } from './lane.ts';
import { registerLane } from './stores/lane-store.ts';

/** A signer and the network that it signs for. */
export type LaneSigner = { readonly chainId: string; readonly signer: MintSigner };

/** A signer as the settings name it. */
export type WantedSigner = {
  /** Decimal. */
  readonly chainId: string;
  /** What operators find in the settings; it is no secret. */
  readonly name: string;
  /** @throws Error with what to fix, while the key cannot be used */
  open(): Promise<MintSigner>;
};

/** The lanes of this process: of those signers that can be used. */
export type Staff = {
  /** Returns the signers whose lanes have started. */
  signers(): readonly LaneSigner[];
  lanes(): readonly Lane[];
  /** Starts the lanes that can start and have not. Logs once why a lane cannot. A key that does not open in time delays no other. */
  fill(): Promise<void>;
  /** @throws Error with the reasons when signers are wanted, and not a single lane has started */
  assertSome(): void;
  stop(): Promise<void>;
};

type Options = {
  readonly db: Database;
  readonly networks: NetworkRegistry;
  readonly log: Logger;
  readonly wanted: readonly WantedSigner[];
  readonly start: (signer: LaneSigner) => Lane;
  /** For how long keys may take to open. */
  readonly openMs?: number;
};

// A keystore takes some seconds, and several of them their sum.
const usualOpenMs = 20_000;

type Post = {
  readonly wanted: WantedSigner;
  signer?: MintSigner;
  /** The key, while it opens: a further fill waits for the same. */
  opening?: Promise<MintSigner> | undefined;
  filling?: Promise<void> | undefined;
  lane?: Lane | undefined;
  /** Why there is no lane, as it was logged. */
  told?: string | undefined;
};

/** Creates the lanes of the settings, without starting any. A signer that cannot be used stops no other. */
export function createStaff({ db, networks, log, wanted, start, openMs = usualOpenMs }: Options): Staff {
  const posts: readonly Post[] = wanted.map((each) => ({ wanted: each }));
  let isStopped = false;

  const fillPost = async (post: Post): Promise<void> => {
    const { chainId } = post.wanted;
    if ((await networks.find(chainId)) === undefined) {
      await end(post);
      throw new Error(notRegistered(chainId));
    }
    const signer = post.signer ?? (await openInTime(post));
    post.signer = signer;
    // Whoever removes a network removes its lanes.
    await registerLane(db, { chainId, signer: signer.address });
    if (isStopped || post.lane !== undefined) return;
    post.lane = start({ chainId, signer });
    if (post.told !== undefined) log.info({ chainId, signer: post.wanted.name }, 'mint lane can start now');
    post.told = undefined;
  };
  const openInTime = (post: Post): Promise<MintSigner> => {
    post.opening ??= post.wanted.open().finally(() => {
      post.opening = undefined;
    });
    return inTime(
      post.opening,
      openMs,
      `the key of ${post.wanted.name} takes over ${openMs / 1_000} s to open`,
    );
  };
  const end = async (post: Post): Promise<void> => {
    const { lane } = post;
    post.lane = undefined;
    await lane?.stop();
  };
  const tell = (post: Post, err: unknown) => {
    const told = errorText(err);
    // A lane that works has its own words for a database that is away.
    if (isStopped || post.lane !== undefined || told === post.told) return;
    post.told = told;
    const { chainId, name } = post.wanted;
    const words = told.replace(/\.$/, '');
    log.error(
      { err, chainId, signer: name },
      `MINT_SIGNERS: ${words}. Its lane starts without a restart once that is fixed`,
    );
  };

  const fillOnce = (post: Post): Promise<void> => {
    post.filling ??= fillPost(post)
      .catch((err: unknown) => tell(post, err))
      .finally(() => {
        post.filling = undefined;
      });
    return post.filling;
  };

  const lanes = () => posts.flatMap(({ lane }) => lane ?? []);
  return {
    signers: () =>
      posts.flatMap(({ wanted: { chainId }, lane, signer }) => (lane && signer ? [{ chainId, signer }] : [])),
    lanes,
    async fill() {
      await Promise.all(posts.map(fillOnce));
    },
    assertSome() {
      if (posts.length === 0 || lanes().length > 0) return;
      throw new Error(`No signer of MINT_SIGNERS can be used: ${posts.map(({ told }) => told).join('; ')}`);
    },
    async stop() {
      isStopped = true;
      await Promise.all(posts.map(end));
    },
  };
}
