import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { listMutants } from '../../../scripts/lives/mutants.ts';

const mutants = listMutants();

test('there are at least thirty mutants, each with a sentence that says what is wrong', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(30);
  expect(mutants.filter(({ about }) => !/^[A-Z].*\.$/.test(about))).toEqual([]);
});

test.each(mutants.map(({ name, file }) => [name, file]))('the mutant %s applies', (_name, file) => {
  execFileSync('git', ['apply', '--check', file], { stdio: 'pipe' });
});
