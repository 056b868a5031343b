import { allOf } from './bench/all.ts';
import { historySuite } from './bench/history/suite.ts';
import { httpSuite, readsSuite, writesSuite } from './bench/http/suites.ts';
import { indexSuite } from './bench/index/suite.ts';
import { mintSuite } from './bench/mint.ts';
import { newsSuite } from './bench/news.ts';
import { processSuite } from './bench/process/suite.ts';
import type { Suite } from './bench/suite.ts';

const compared: Readonly<Record<string, Suite>> = {
  http: httpSuite,
  reads: readsSuite,
  writes: writesSuite,
  index: indexSuite,
  history: historySuite,
  mint: mintSuite,
  news: newsSuite,
  process: processSuite,
};
const suites: Readonly<Record<string, Suite>> = {
  ...compared,
  all: allOf(compared, process.argv.includes('--readme')),
};

const help = `Measures parts of the service on this machine, each against something that does less.

  npm run bench -- <suite> [--quick] [--readme]

Suites:
${Object.entries(suites)
  .map(([name, { about }]) => `  ${name.padEnd(12)}${about}`)
  .join('\n')}

--quick does less of it, in less than a minute. --readme puts the table of all into docs/performance.md. Progress goes to standard error. The last line of the output is
one JSON object; its ratios compare things measured in the same run, so they say more than the times. Where a
suite has limits, each is there with its value, \`ok\` says whether all are met, and the exit status is 1 when not.`;

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const [name = ''] = names;
const suite = suites[name];
if (process.argv.includes('--help') || suite === undefined) {
  process.stdout.write(`${help}\n`);
  process.exitCode = process.argv.includes('--help') ? 0 : 2;
} else {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const figures = await suite.run({ isQuick: process.argv.includes('--quick'), say });
  process.stdout.write(`${JSON.stringify({ suite: name, node: process.version, ...figures })}\n`);
  if (!figures.ok) process.exitCode = 1;
}
