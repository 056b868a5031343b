import { type ProblemError, problem } from '../../../base/errors.ts';

/** The problem `block_not_indexed` about a parameter of the query. */
export function notIndexed(block: bigint, name: 'asOf' | 'toBlock'): ProblemError {
  const words = { block: String(block) };
  const { message } = problem('block_not_indexed', words);
  return problem('block_not_indexed', words, { errors: [{ in: 'query', name, message }] });
}
