import { describe, expect, test } from 'vitest';
import { catalogue, problemTitles } from '../../src/base/errors.ts';
import { documents } from '../../src/contract/documents.ts';

type Problem = {
  readonly code: keyof typeof catalogue;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
};
const examples = Object.entries(documents).flatMap(([area, document]) =>
  Object.entries(document.components?.['examples'] ?? {}).flatMap(([name, example]) => {
    const problem = (example as { value?: Problem }).value; // an example of a bundle has its value inline
    return problem?.code === undefined ? [] : [{ title: `${area} ${name}`, problem }];
  }),
);

describe('every documented problem', () => {
  test.each(examples)('$title has status, title and text of the catalogue', ({ problem }) => {
    const entry = catalogue[problem.code];
    expect([problem.status, problem.title]).toEqual([entry.status, problemTitles[entry.status]]);
    if (problem.code === 'input_invalid') return;
    const pattern = entry.detail.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '.+');
    expect(problem.detail).toMatch(new RegExp(`^${pattern}$`));
  });
});
