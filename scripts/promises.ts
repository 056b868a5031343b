import { existsSync, readFileSync } from 'node:fs';
import { allFaults } from './faults/service/cases/all.ts';

/* Fails where SECURITY.md names a test, a command or a fault that does not exist: nobody would check the promise. */

const scripts = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts);
const faults = new Set(allFaults.map(({ name }) => name));

/** Whether what the last column of the table names is there. */
function exists(name: string): boolean {
  if (name.startsWith('test/')) return existsSync(name) || existsSync(`${name}.test.ts`);
  const [, script] = /^npm run ([\w:]+)/.exec(name) ?? [];
  return script === undefined ? faults.has(name) : scripts.includes(script);
}

const rows = readFileSync('SECURITY.md', 'utf8')
  .split(/^## /m)
  .filter((part) => part.startsWith('What is promised'))
  .flatMap((part) => part.split('\n').filter((line) => line.startsWith('| ')))
  .slice(1)
  .map((line) => line.split('|').slice(1, -1));

const faultsFound = rows.flatMap(([promise = '', tests = '']) => {
  const names = [...tests.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  if (names.length === 0) return [`nothing shows: ${promise.trim()}`];
  return names.filter((name) => !exists(name)).map((name) => `${name} does not exist: ${promise.trim()}`);
});
if (rows.length === 0) faultsFound.push('SECURITY.md promises nothing.');

process.stdout.write(faultsFound.length === 0 ? `${rows.length} promises\n` : `${faultsFound.join('\n')}\n`);
process.exitCode = faultsFound.length === 0 ? 0 : 1;
