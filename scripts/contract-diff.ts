import { parseArgs } from 'node:util';
import { errorText } from '../src/base/thrown.ts';
import { createAnnouncements } from './contract-diff/announced.ts';
import { areas, readChangelog, readDocument, recordRelease, released } from './contract-diff/base.ts';
import { compareDocuments } from './contract-diff/compare-documents.ts';
import { type Finding, toJson, toText } from './contract-diff/report.ts';

const help = `Usage: npm run contract:diff -- [BASE] [--json] [--all]

Reports every difference of the contract from that of BASE as breaking, risky or safe.

  BASE      a folder with blockchain.json, events.json and rwa.json, or a revision of git;
            by default the last release (${released})
  --json    print one JSON object instead of tables
  --all     list the safe differences too instead of counting them
  --record  keep the present contract as the last release (part of making a release)
  --help    show this text

Exit status: 0 nothing breaks, or CHANGELOG.md announces what does; 1 something breaks
unannounced; 2 wrong use. A change is announced by a line below "### Breaking" of the
section "## Unreleased" that names its subject and class in backticks, such as
  - \`GET /event\` \`parameter-removed\`: use startsFrom instead of from.
`;

async function compareAll(base: string): Promise<Finding[]> {
  const isAnnounced = createAnnouncements(await readChangelog());
  const findings = await Promise.all(
    areas.map(async (area) =>
      compareDocuments(await readDocument(area, base), await readDocument(area)).map((change) => ({
        ...change,
        area,
        announced: isAnnounced(change),
      })),
    ),
  );
  return findings.flat();
}

async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    options: { json: flag, all: flag, record: flag, help: { ...flag, short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  if (values.record) return recordRelease();
  const base = positionals[0] ?? released;
  const findings = await compareAll(base);
  process.stdout.write(values.json ? toJson(base, findings) : toText(base, findings, values.all));
  const unannounced = findings.filter(({ severity, announced }) => severity === 'breaking' && !announced);
  if (unannounced.length === 0) return;
  process.stderr.write(
    `${unannounced.length} breaking and not announced. Remedy: keep the contract as it was, or announce each ` +
      'below "### Breaking" of the section "## Unreleased" of CHANGELOG.md (npm run contract:diff -- --help).\n',
  );
  process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 2;
}
