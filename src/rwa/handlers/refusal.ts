import { problem } from '../../base/errors.ts';
import type { InputError } from '../../base/problem.ts';
import type { FieldError } from '../assets/rwa-input.ts';

/** Returns the problem of a body with faults. The first fault is its detail. */
export function refusal(errors: readonly FieldError[]) {
  const faults = errors.map(
    ({ field, message }): InputError => ({
      in: 'body',
      pointer: `/${field.replaceAll('.', '/')}`,
      message: `${field} ${message}`,
    }),
  );
  return problem('input_invalid', {}, { detail: faults[0]?.message ?? '', errors: faults });
}
