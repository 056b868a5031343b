import { type Caller, createCaller } from '../../load/caller.ts';
import { createMix } from '../../load/mix.ts';
import { type SteadyLoad, startLoad } from '../../load/steady-load.ts';
import type { Stage } from './fault.ts';

/** Every answer is there by then. */
export const deadlineMs = 15_000;

/** Lets both companies use the service at a steady rate. Its callers leave when it is stopped. */
export function startUsualLoad(stage: Stage, perSecond: number): SteadyLoad {
  const { acme, globex } = stage.around.world;
  const callers = callersOf(stage);
  const mix = createMix(stage.ledger);
  const next = (index: number) => mix(index < callers.length / 2 ? acme : globex);
  const load = startLoad({ callers, next, perSecond });
  return {
    ...load,
    async stop() {
      await load.stop();
      for (const caller of callers) caller.close();
    },
  };
}

function callersOf({ service, around }: Stage): Caller[] {
  const { acme, globex } = around.world;
  return [acme, globex].flatMap(({ name, key }, company) =>
    [1, 2, 3, 4].map((number) =>
      createCaller({
        port: service.port,
        company: name,
        key,
        address: `127.0.${company + 1}.${number}`,
        deadlineMs,
      }),
    ),
  );
}
