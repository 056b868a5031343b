import { currentScope } from '../../../base/request-scope.ts';
import { createSemaphore } from '../../../base/semaphore.ts';
import type { AskNetwork } from '../pool/failover.ts';

// A company has eight of them while others ask. More would keep a process that waits for quick nodes busy with one company.
const questionsAtOnce = 32;

/** Lets work for companies ask the nodes of a network in turn. Work for nobody, such as minting, waits for no company. */
export type QuestionTurns = (ask: AskNetwork) => AskNetwork;

/**
 * Creates the turns of a network.
 * @param waitMs after which a question of a company that asks for too much is rejected
 */
export function createQuestionTurns({ waitMs }: { readonly waitMs: number }): QuestionTurns {
  const places = createSemaphore({ places: questionsAtOnce, waitMs });
  return (ask) => async (method, params) => {
    const scope = currentScope();
    if (scope?.tenant === undefined) return ask(method, params);
    // What waits for its turn needs no place among the requests at work.
    scope.onAway?.();
    const release = await places.take(scope.tenant, scope);
    try {
      return await ask(method, params);
    } finally {
      release();
    }
  };
}
