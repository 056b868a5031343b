import { createSigners, startBenchChain } from '../mint/bench-chain.ts';
import { startBenchPostgres } from '../mint/bench-postgres.ts';
import { createSetup } from '../mint/bench-setup.ts';
import { measureMinting } from '../mint/throughput.ts';
import { rounded } from '../suite.ts';

const counts = [1, 2, 4] as const;
const connections = 32;

type Options = {
  readonly folder: string;
  readonly isQuick: boolean;
  readonly say: (line: string) => void;
};

/** NFTs from HTTP to minted by one, two and four signers of one network, each on a fresh chain and database. */
export async function measureLanes({ folder, isQuick, say }: Options) {
  const postgres = await startBenchPostgres(folder);
  try {
    const nfts = isQuick ? 2_000 : 4_000;
    const found: Record<string, { readonly nftsPerSecond: number; readonly transactions: number }> = {};
    for (const count of counts) {
      const signers = await createSigners(folder, count);
      const chain = await startBenchChain(folder, signers.addresses);
      try {
        const setup = await createSetup(await postgres.createDatabase(), chain);
        const options = { folder, setup, chain, signing: signers.settings, nfts, connections };
        const { nftsPerSecond, batches } = await measureMinting({ ...options, say: () => {} });
        found[`signers${count}`] = { nftsPerSecond, transactions: batches.length };
        say(`signers ${count}: ${JSON.stringify(found[`signers${count}`])}`);
      } finally {
        await chain.stop();
      }
    }
    const paceOf = (count: number) => found[`signers${count}`]?.nftsPerSecond ?? 0;
    return {
      found,
      ratios: {
        paceOfTwoSigners: rounded(paceOf(2) / paceOf(1)),
        paceOfFourSigners: rounded(paceOf(4) / paceOf(1)),
      },
    };
  } finally {
    await postgres.close();
  }
}
