import { describe, expect, expectTypeOf, test } from 'vitest';
import { catalogue, isFixedCode, problem } from '../src/base/errors.ts';

type ArgumentsOf<Code extends keyof typeof catalogue> = Parameters<typeof problem<Code>>;
type NoValues = Readonly<Record<string, never>>;

// The compiler judges these when it checks the tests (npm run check -- types): each line is an error if the
// type lets the mistake through.
describe('the arguments of a problem', () => {
  test('are the code alone where its text is fixed', () => {
    expectTypeOf<['event_full']>().toExtend<ArgumentsOf<'event_full'>>();
    expectTypeOf<['event_full', { chainId: string }]>().not.toExtend<ArgumentsOf<'event_full'>>();
  });

  test('are a value for each placeholder of its text, and no other', () => {
    expectTypeOf<ArgumentsOf<'network_not_found'>[1]>().toEqualTypeOf<Readonly<Record<'chainId', string>>>();
    expectTypeOf<ArgumentsOf<'method_not_allowed'>[1]>().toEqualTypeOf<
      Readonly<Record<'method' | 'allow', string>>
    >();
    expectTypeOf<['network_not_found']>().not.toExtend<ArgumentsOf<'network_not_found'>>();
    expectTypeOf<['network_not_found', Record<never, string>]>().not.toExtend<
      ArgumentsOf<'network_not_found'>
    >();
    expectTypeOf<['network_not_found', { address: string }]>().not.toExtend<
      ArgumentsOf<'network_not_found'>
    >();
  });

  test('may end with a cause, headers, input errors or a text of its own', () => {
    type Extras = { cause: unknown; headers: Record<string, string>; errors: []; detail: string };
    expectTypeOf<['event_full', NoValues, Extras]>().toExtend<ArgumentsOf<'event_full'>>();
    expectTypeOf<['not_erc20', { address: string }, Extras]>().toExtend<ArgumentsOf<'not_erc20'>>();
  });
});

describe('the text of a problem', () => {
  test('has its values in place of the placeholders', () => {
    const { message } = problem('method_not_allowed', { method: 'PUT', allow: 'GET, HEAD' });
    expect(message).toBe('The method PUT is not allowed here; allowed: GET, HEAD.');
  });

  test('is that of the catalogue where it is fixed', () => {
    expect(problem('event_full').message).toBe(catalogue.event_full.detail);
  });
});

test('a fixed code is one of the catalogue whose text has no placeholder', () => {
  expect(['event_full', 'network_not_found', 'constructor', 'nonsense'].map(isFixedCode)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
