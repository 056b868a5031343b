import { execFileSync } from 'node:child_process';

/*
 * Fails where a commit does not say what it does: a subject is a Conventional Commit, or `Merge` and the name of the work.
 * Commits before this file are not read. Remedy: git commit --amend, or git rebase -i --rebase-merges.
 */

const conventional = /^[a-z]+(\([\w, -]+\))?!?: \S+ \S+/;
const named = /^(Merge (main|branch 'main' into \S+|(?!branch |remote)\S+ \S+ .+)|Revert ".+")$/;

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64e6 }).trim();

const [begun] = git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/commits.ts').split('\n');
const commits = git('log', '--format=%h %s', begun ? `${begun}..HEAD` : 'HEAD').split('\n');
const faults = commits.filter((line) => {
  const subject = line.slice(line.indexOf(' ') + 1);
  return line !== '' && !conventional.test(subject) && !named.test(subject);
});
for (const fault of faults) process.stdout.write(`${fault}: the subject names no work\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
