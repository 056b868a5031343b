import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const guide = readFileSync('openapi/portal/guides/authentication.md', 'utf8');

test('the guide recommends no key that lists all guests for a page that everybody reads', () => {
  const [, advice = ''] = guide.split('## Keep it safe');
  const sentences = advice.replaceAll(/\s+/g, ' ').split(/(?<=\.) /);
  const ofGuests = sentences.filter((sentence) => sentence.includes('`events:read`'));
  expect(ofGuests).toEqual([expect.stringContaining('it lists all guests')]);
});
