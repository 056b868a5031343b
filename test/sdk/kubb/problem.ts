import assert from 'node:assert/strict';
import { isAxiosError } from 'axios';

/** The status and the typed body of the error that a call must end with. */
export async function failureOf<Body>(call: Promise<unknown>): Promise<{ status: number; body: Body }> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert(isAxiosError<Body>(error) && error.response, 'The call did not fail with an answer.');
  return { status: error.response.status, body: error.response.data };
}
