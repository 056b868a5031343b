import { inputInvalid } from '../../base/errors.ts';
import type { FieldError } from '../assets/rwa-input.ts';

/** Returns the problem of a body with faults. The first fault is its detail. */
export const bodyProblem = (errors: readonly FieldError[]) =>
  inputInvalid(
    errors.map(({ field, message }) => ({
      in: 'body',
      pointer: `/${field.replaceAll('.', '/')}`,
      message: `${field} ${message}`,
    })),
  );
