import { parseArgs } from 'node:util';
import { errorText } from '../src/base/thrown.ts';
import { rehearseBackup } from './rehearse/backup.ts';
import { rehearseDeployment } from './rehearse/deployment.ts';
import { rehearseLastSuite } from './rehearse/last-suite.ts';
import { rehearseMove } from './rehearse/move.ts';
import { rehearseNewcomer } from './rehearse/newcomer.ts';
import type { Report } from './rehearse/report.ts';
import { rehearseRotation } from './rehearse/rotate.ts';
import { rehearseUpgrade } from './rehearse/upgrade.ts';

/** By name; what each counted, for programs. */
const rehearsals: Readonly<Record<string, (report: Report) => Promise<unknown>>> = {
  deploy: rehearseDeployment,
  'last-suite': rehearseLastSuite,
  upgrade: rehearseUpgrade,
  backup: rehearseBackup,
  newcomer: rehearseNewcomer,
  move: rehearseMove,
  rotate: rehearseRotation,
};

const help = `Usage: npm run rehearse -- NAME ...

Tries what operators do once in a while, as far as one machine allows:

  deploy       reads all of deploy/ with the tools that it is made for: Dockerfile, compose.yaml, units, chart; starts nginx
               where it is installed, and runs the scripts of compose.yaml
  last-suite   runs the suite of the oldest release of the schema range over the present schema; takes some minutes
  upgrade      replaces the processes of the oldest release of the schema range by those of this one, one by one under load,
               after migrate: no request fails, and nothing that was accepted is lost
  backup       backs up by pg_dump under load, mints on, restores into another server and recovers what the chain has
               meanwhile. Needs pg_dump and a server of its version
  move         stops the service with mints on their way, and goes on over a copy of its database in another server: nothing
               is lost or minted twice. Needs pg_dump and a server of its version
  rotate       replaces every key under load, process by process: SECRET_KEYS, CURSOR_KEYS, an API key, a signer. No request
               fails, and what the old keys sealed is read with the new ones alone
  newcomer     runs every command of docs/first-nft.md, from an empty folder to a minted NFT whose
               address on the chain is right, on a PostgreSQL and a chain of its own; takes some minutes

The last line is the result as JSON.
`;

const { values, positionals } = parseArgs({
  options: { help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !(name in rehearsals));
if (values.help) {
  process.stdout.write(help);
} else if (positionals.length === 0 || unknown.length > 0) {
  process.stderr.write(`${unknown.length > 0 ? `Unknown: ${unknown.join(', ')}\n\n` : ''}${help}`);
  process.exitCode = 2;
} else {
  const counts = { passed: 0, failed: 0 };
  const report: Report = async (title, step) => {
    const started = performance.now();
    const failure = await step().then(() => undefined, errorText);
    counts[failure === undefined ? 'passed' : 'failed'] += 1;
    const seconds = ((performance.now() - started) / 1_000).toFixed(1).padStart(6);
    process.stdout.write(`${failure === undefined ? 'ok    ' : 'FAILED'} ${seconds} s  ${title}\n`);
    if (failure !== undefined) process.stdout.write(`${failure.trimEnd()}\n\n`);
    return failure === undefined;
  };
  const figures: Record<string, unknown> = {};
  for (const name of positionals) figures[name] = (await rehearsals[name]?.(report)) ?? {};
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  process.stdout.write(`${JSON.stringify({ ...counts, ...figures })}\n`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}
