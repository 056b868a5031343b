import { createCaller, type Wanted } from './caller.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createMix } from './mix.ts';
import { type SteadyLoad, startLoad } from './steady-load.ts';
import type { World } from './world.ts';

export type UsualLoad = SteadyLoad & { readonly ledger: Ledger };

type Options = {
  readonly port: number;
  readonly world: World;
  readonly ledger?: Ledger;
  readonly perSecond?: number;
  /** Whether there is a network that the upstream serves. */
  readonly isHosted?: boolean;
};

const callersOfEach = 4;

/** Lets both companies read, write and mint at a steady rate. The callers leave when it is stopped. */
export function startUsualLoad({
  port,
  world,
  ledger = createLedger(),
  perSecond = 20,
  isHosted = false,
}: Options): UsualLoad {
  const companies = [world.acme, world.globex];
  const callers = companies.flatMap(({ name, key }, company) =>
    Array.from({ length: callersOfEach }, (_, index) =>
      createCaller({ port, company: name, key, address: `127.0.${company + 1}.${index + 1}` }),
    ),
  );
  const mix = createMix(ledger);
  const next = (index: number): Wanted => {
    const wanted = mix(index < callersOfEach ? world.acme : world.globex);
    return wanted.kind === 'hosted history' && !isHosted ? next(index) : wanted;
  };
  const load = startLoad({ callers, next, perSecond });
  return {
    ...load,
    ledger,
    async stop() {
      await load.stop();
      for (const caller of callers) caller.close();
    },
  };
}
