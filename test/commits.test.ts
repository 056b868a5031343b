import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const script = resolve(import.meta.dirname, '../scripts/commits.ts');

test('a commit whose subject names no work is found', ({ onTestFinished }) => {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-commits-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  const commit = (subject: string) =>
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', subject);
  const check = () => {
    const { status, stdout } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
    return { status, subjects: [...stdout.matchAll(/^\w+ (.*): the subject/gm)].map(([, name]) => name) };
  };
  git('init', '-q');
  const good = ['fix(events): reject an end before the start', 'feat!: keys end', 'Merge tickets for doors'];
  for (const subject of [...good, 'Merge main', 'Revert "fix: a mistake"']) commit(subject);
  expect(check()).toEqual({ status: 0, subjects: [] });
  const bad = ['m', 'names', 'merge', "Merge branch 'k44'", 'Merge k44', 'fix: it', 'merge moves'];
  for (const subject of bad) commit(subject);
  expect(check()).toEqual({ status: 1, subjects: bad.toReversed() });
});
