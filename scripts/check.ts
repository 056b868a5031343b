import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { areas } from '../src/config/config.ts';

type Check = { readonly name: string; readonly about: string; readonly run: () => Promise<Outcome> };
type Outcome = { readonly ok: boolean; readonly output: string };

/** Runs a program of the project's own packages; both output streams are kept in order. */
function program(command: string, ...args: string[]): () => Promise<Outcome> {
  return () =>
    new Promise((resolve) => {
      const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      const chunks: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
      child.once('error', (error) => resolve({ ok: false, output: error.message }));
      child.once('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(chunks).toString() }));
    });
}

const checks: readonly Check[] = [
  { name: 'types', about: 'TypeScript at its strictest', run: program('tsc', '--noEmit') },
  { name: 'style', about: 'formatter and linter', run: program('biome', 'check', '--error-on-warnings') },
  {
    name: 'contract',
    about: 'bundles and types are current',
    run: program('node', 'scripts/contract.ts', '--check'),
  },
  {
    name: 'contract-lint',
    about: 'documents follow the rules',
    run: program(
      'redocly',
      'lint',
      '--config',
      'openapi/redocly.yaml',
      ...areas.flatMap((area) => [area, `src/contract/generated/${area}-3.0.yaml`]),
    ),
  },
  {
    name: 'contract-diff',
    about: 'nothing breaks that the changelog does not announce',
    run: program('node', 'scripts/contract-diff.ts'),
  },
  {
    name: 'imports',
    about: 'direction of imports, one library one folder',
    run: program('depcruise', '--config', 'scripts/import-rules.cjs', 'src', 'scripts', 'migrations'),
  },
  {
    name: 'unused',
    about: 'no unused files, exports or dependencies',
    run: program('knip', '--config', 'scripts/knip.json'),
  },
  {
    name: 'contracts',
    about: 'compiled contracts are current',
    run: program('node', 'scripts/contracts.ts', '--check'),
  },
  {
    name: 'settings',
    about: 'the tables that docs/operate/ takes from the code are current',
    run: program('node', 'scripts/settings.ts', '--check'),
  },
  { name: 'size', about: 'files and functions stay small', run: program('node', 'scripts/size.ts') },
  {
    name: 'promises',
    about: 'the tests and faults that SECURITY.md names exist',
    run: program('node', 'scripts/promises.ts'),
  },
  {
    name: 'links',
    about: 'links between Markdown files lead somewhere',
    run: program('node', 'scripts/links.ts'),
  },
  {
    name: 'words',
    about: 'documentation, docstrings and help have plain words',
    run: program('node', 'scripts/words.ts'),
  },
  {
    name: 'lock',
    about: 'the lock files are whole and name no download address',
    run: program('node', 'scripts/lock.ts'),
  },
  {
    name: 'commits',
    about: 'commits and merges name their work',
    run: program('node', 'scripts/commits.ts'),
  },
];

const help = `Usage: npm run check [-- NAME ...]

Runs every check, or those named:
${checks.map(({ name, about }) => `  ${name.padEnd(14)} ${about}`).join('\n')}
`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const unknown = positionals.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`Unknown check: ${unknown.join(', ')}\n\n${help}`);
    process.exitCode = 2;
    return;
  }
  const queue = checks.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const failed: string[] = [];
  const total = queue.length;
  const lane = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
      const started = performance.now();
      const { ok, output } = await check.run();
      const seconds = ((performance.now() - started) / 1_000).toFixed(1).padStart(5);
      process.stdout.write(
        `${ok ? 'ok    ' : 'FAILED'} ${seconds} s  ${check.name.padEnd(14)} ${check.about}\n`,
      );
      if (!ok) failed.push(check.name);
      // A person who names a check wants to read its output.
      if ((!ok || positionals.length > 0) && output.trim() !== '')
        process.stdout.write(`${output.trimEnd()}\n\n`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  if (positionals.length === 0) process.stdout.write((await program('node', 'scripts/figures.ts')()).output);
  process.stdout.write(`${total - failed.length} passed, ${failed.length} failed\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

await main();
