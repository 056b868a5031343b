import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { tools } from './tools.ts';

describe.skipIf(tools.curl === undefined)('the sample of the README', () => {
  test('is one call with its answer', () => {
    expect(inject('readme')).toHaveLength(1);
  });

  test.for(inject('readme').map((sample) => [sample.line, sample] as const))(
    'is what a new sample world answers to %s',
    ([, { shown, answered }]) => {
      expect(answered).toEqual(shown);
    },
  );
});

test('the README shows what npm start prints, but for keys and ports', () => {
  const [, shown = ''] = /```text\n\$ npm start\n([^`]*)```/.exec(readFileSync('README.md', 'utf8')) ?? [];
  expect(withoutChance(shown)).toBe(withoutChance(inject('printed')));
});

/** What `npm start` prints, without what differs from run to run. */
const withoutChance = (printed: string): string =>
  printed
    .trimEnd()
    .replaceAll(/tk_local_\w*…?/g, 'tk_local_')
    .replaceAll(/(localhost|127\.0\.0\.1):\d+/g, '$1');

test('README, first page, deployment guide, guides and programs name address and key in one way', () => {
  const root = new URL('../../../', import.meta.url);
  const within = (folder: string) => readdirSync(new URL(folder, root)).map((name) => `${folder}${name}`);
  const files = [
    'README.md',
    'docs/first-nft.md',
    'docs/operate/deploy.md',
    ...within('openapi/portal/guides/'),
    ...within('openapi/portal/programs/'),
  ];
  const named = files.flatMap((file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    return [
      ...text.matchAll(/x-api-key:? *\$\{?(\w+)/gi),
      ...text.matchAll(/\b(?:process\.env\.|environ\[")(\w+)/g),
      ...text.matchAll(/curl .*?"\$\{?(\w+)\}?\//g),
    ].map(([, name]) => name);
  });
  // A receiver of webhooks has a port and a secret of its own.
  expect(new Set(named)).toEqual(new Set(['TALLYSTICK', 'TALLYSTICK_KEY', 'PORT', 'WEBHOOK_SECRET']));
});
