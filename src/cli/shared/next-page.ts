import type { Output } from './output.ts';

/**
 * Says how to go on after a page of a list that is not its last one.
 * @param page what was shown; the option --after takes the id of the last
 * @param how what else to do with the options
 */
export function sayWhatFollows(
  output: Output,
  page: readonly { readonly id: string }[],
  hasMore: boolean,
  how = '',
): void {
  const last = page.at(-1);
  if (hasMore && last !== undefined) output.say(`There are more: add --after ${last.id} ${how}`.trimEnd());
}
