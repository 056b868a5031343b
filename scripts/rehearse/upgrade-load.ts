import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../load/answers.ts';
import { createCaller, type Wanted } from '../load/caller.ts';
import { createLedger, type Ledger } from '../load/ledger.ts';
import { createMix } from '../load/mix.ts';
import { startLoad } from '../load/steady-load.ts';
import type { Company, World } from '../load/world.ts';

export type UpgradeLoad = {
  /** Every answer so far. */
  answers(): readonly Answer[];
  readonly ledger: Ledger;
  /** Lets it go on for a while. */
  steady(ms: number): Promise<void>;
  /** Resolves when everything is answered that was sent until now. */
  readonly untilAnswered: () => Promise<void>;
  stop(): Promise<void>;
};

const perSecond = 20;
const deadlineMs = 15_000;
const patienceMs = 120_000;

/** Waits until something is so. @throws Error that names what there still is */
export async function until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`After ${patienceMs / 1_000} s there are ${otherwise}.`);
    await pause(100);
  }
}

/** Lets both companies read, write and mint at a steady rate. */
export async function startUpgradeLoad(port: number, world: World): Promise<UpgradeLoad> {
  const ledger = createLedger();
  const companies = await Promise.all(Object.values(world).map((company) => withEvents(port, company)));
  const callers = companies.flatMap(({ name, key }, company) =>
    [1, 2].map((number) =>
      createCaller({ port, company: name, key, address: `127.0.${company + 1}.${number}`, deadlineMs }),
    ),
  );
  const mix = createMix(ledger);
  const next = (index: number): Wanted => {
    const company = companies[Math.floor(index / 2)];
    if (company === undefined) throw new Error('A caller without a company.');
    for (;;) {
      const wanted = mix(company);
      // Nobody hosts data here.
      if (wanted.kind !== 'hosted history') return wanted;
    }
  };
  const load = startLoad({ callers, next, perSecond });
  return {
    answers: () => load.answers,
    ledger,
    steady: (ms) => pause(ms),
    untilAnswered: load.untilAnswered,
    async stop() {
      await load.stop();
      for (const caller of callers) caller.close();
    },
  };
}

/** The company with events to add attendees to; waits until its wallets can be read. */
async function withEvents(port: number, company: Company): Promise<Company> {
  const base = `http://127.0.0.1:${port}`;
  const headers = { 'x-api-key': company.key, 'content-type': 'application/json' };
  const events: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const body = JSON.stringify({ name: `Fair ${index}` });
    const signal = AbortSignal.timeout(deadlineMs);
    const answer = await fetch(`${base}/events/v1/api/event`, { method: 'POST', headers, body, signal });
    const { id } = (await answer.json()) as { id: string }; // as the contract has it
    events.push(id);
  }
  const history = `${base}/blockchain/v1/api/wallet/history?chainId=31337&address=${company.wallets[0]}`;
  const isIndexed = async () =>
    (await fetch(history, { headers, signal: AbortSignal.timeout(deadlineMs) })).status === 200;
  await until(isIndexed, 'no blocks in the index');
  return { ...company, events };
}
