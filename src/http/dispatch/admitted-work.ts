import { currentScope } from '../../base/request-scope.ts';
import type { Release } from '../../base/semaphore.ts';
import type { RequestAdmission } from '../server/admission.ts';
import type { Exchange } from './exchange.ts';

/**
 * Waits until the process may work on the request. Its place ends as soon as the work waits for somebody outside, and the
 * next transaction waits for another place.
 * @returns undefined where nothing is to be waited for
 * @throws ProblemError `overloaded`
 */
export function admitWork(admission: RequestAdmission, exchange: Exchange): Promise<void> | undefined {
  const scope = currentScope();
  const { tenant } = scope ?? {};
  if (scope === undefined || tenant === undefined) return undefined;
  let place: Release | Promise<Release> | undefined = admission.admit(tenant, scope);
  const leave = () => {
    const left = place;
    place = undefined;
    if (left instanceof Promise) left.then((release) => release()).catch(() => {});
    else left?.();
  };
  exchange.release = leave;
  const comeBack = async () => {
    place ??= admission.admit(tenant, scope);
    await place;
  };
  scope.onAway = leave;
  // V8 puts a function that is written where it is assigned into the old generation, and with it what it captures.
  scope.onBack = comeBack;
  return place instanceof Promise ? place.then(() => {}) : undefined;
}

/**
 * Waits until the company may have another large response, which ends when it is sent or its caller has gone.
 * @throws ProblemError `overloaded`
 */
export async function admitLarge(admission: RequestAdmission, exchange: Exchange): Promise<void> {
  const scope = currentScope();
  if (scope?.tenant === undefined || exchange.isLarge === true) return;
  exchange.isLarge = true;
  const release = await admission.admitLarge(scope.tenant, scope);
  scope.onIdle = release;
  if (exchange.response.closed) release();
  else exchange.response.once('close', release);
}
