import { parseArgs } from 'node:util';
import { rehearseDeployment } from './rehearse/deployment.ts';
import { rehearseImage } from './rehearse/image.ts';
import type { Report } from './rehearse/report.ts';

const rehearsals: Readonly<Record<string, (report: Report) => Promise<void>>> = {
  deploy: rehearseDeployment,
  image: rehearseImage,
};

const help = `Usage: npm run rehearse -- NAME ...

Tries what operators do once in a while, as far as one machine allows:

  deploy   reads all of deploy/ with the tools that it is made for: Dockerfile, compose.yaml, units, chart
  image    does the steps of the Dockerfile in an empty folder under another user, starts each role there as process 1
           over a read-only file system, and stops it by SIGTERM. Needs root, for namespaces, and no container runtime
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
    const failure = await step().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    counts[failure === undefined ? 'passed' : 'failed'] += 1;
    const seconds = ((performance.now() - started) / 1_000).toFixed(1).padStart(6);
    process.stdout.write(`${failure === undefined ? 'ok    ' : 'FAILED'} ${seconds} s  ${title}\n`);
    if (failure !== undefined) process.stdout.write(`${failure.trimEnd()}\n\n`);
    return failure === undefined;
  };
  for (const name of positionals) await rehearsals[name]?.(report);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}
