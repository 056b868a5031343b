import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAnnouncements } from '../../scripts/contract-diff/announced.ts';
import { areas } from '../../scripts/contract-diff/base.ts';
import { type Change, severities } from '../../scripts/contract-diff/change.ts';

type Ended = { readonly status: number; readonly stdout: string; readonly stderr: string };

function contractDiff(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/contract-diff.ts', ...args], (error, stdout, stderr) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

describe('the command', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'contract-diff-'));
    for (const area of areas) {
      const document = JSON.parse(await readFile(`src/contract/generated/${area}.json`, 'utf8'));
      // As if the last release had one more operation and one status less.
      if (area === 'events') document.paths['/agenda'] = { get: { operationId: 'getAgenda', responses: {} } };
      if (area === 'events') delete document.paths['/event'].get.responses['429'];
      await writeFile(join(folder, `${area}.json`), JSON.stringify(document));
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('fails on a breaking change that is not announced, and says what to do', async () => {
    const { status, stdout, stderr } = await contractDiff(folder);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /1 breaking[\s\S]*path-removed[\s\S]*GET \/agenda[\s\S]*1 risky[\s\S]*status-added/,
    );
    expect(stderr).toContain('### Breaking');
  });

  test('tells it as JSON', async () => {
    const { stdout } = await contractDiff(folder, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      breaking: 1,
      risky: 1,
      unannounced: 1,
      changes: expect.arrayContaining([
        expect.objectContaining({
          class: 'path-removed',
          area: 'events',
          subject: 'GET /agenda',
          announced: false,
        }),
        expect.objectContaining({
          class: 'status-added',
          severity: 'risky',
          subject: 'GET /event',
          at: '429',
        }),
      ]),
    });
  });

  test('passes where nothing differs', async () => {
    expect(await contractDiff('src/contract/generated')).toMatchObject({
      status: 0,
      stdout: 'No difference from src/contract/generated.\n',
    });
  });

  test('passes against the last release', async () => {
    expect(await contractDiff()).toMatchObject({ status: 0, stderr: '' });
  });

  test.each(['no-such-revision', '--output=x'])('refuses the base %s', async (base) => {
    expect((await contractDiff(base)).status).toBe(2);
  });
});

describe('an announcement', () => {
  const change: Change = {
    class: 'path-removed',
    severity: severities['path-removed'],
    subject: 'GET /agenda',
    at: '',
    message: 'is gone',
  };
  const line = '- `GET /agenda` `path-removed`: ask\n  for the event.\n';

  test.each([
    ['below Breaking of Unreleased', `## Unreleased\n\n### Breaking\n\n${line}\n### Added\n`, true],
    ['below another heading', `## Unreleased\n\n### Breaking\n\n### Removed\n\n${line}`, false],
    ['of an older release', `## Unreleased\n\n## 1.0.0\n\n### Breaking\n\n${line}`, false],
    ['of another subject', '## Unreleased\n\n### Breaking\n\n- `GET /event` `path-removed`\n', false],
    ['of another class', '## Unreleased\n\n### Breaking\n\n- `GET /agenda` `status-removed`\n', false],
  ])('%s', (_where, changelog, isAnnounced) => {
    expect(createAnnouncements(changelog)(change)).toBe(isAnnounced);
  });
});
