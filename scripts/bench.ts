import { dispatchSuite } from './bench/dispatch.ts';
import { historySuite } from './bench/history/suite.ts';
import { indexSuite } from './bench/index/suite.ts';
import type { Suite } from './bench/suite.ts';

const suites: Readonly<Record<string, Suite>> = {
  dispatch: dispatchSuite,
  index: indexSuite,
  history: historySuite,
};

const help = `Measures parts of the service on this machine.

  npm run bench -- <suite> [--quick]

Suites:
${Object.entries(suites)
  .map(([name, { about }]) => `  ${name.padEnd(12)}${about}`)
  .join('\n')}

--quick takes a tenth of the work. The last line is one JSON object, the only one on standard output; its ratios
compare things measured in the same run, so they say more than the times. Where a suite has limits, they are in the
object, \`ok\` tells whether they are kept, and so does the exit status.`;

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const [name = ''] = names;
const suite = suites[name];
if (process.argv.includes('--help') || suite === undefined) {
  process.stdout.write(`${help}\n`);
  process.exitCode = process.argv.includes('--help') ? 0 : 2;
} else {
  const figures = await suite.run({
    isQuick: process.argv.includes('--quick'),
    say: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(`${JSON.stringify({ suite: name, node: process.version, ...figures })}\n`);
  process.exitCode = figures.ok === false ? 1 : 0;
}
