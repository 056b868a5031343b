import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { errorText } from '../src/base/thrown.ts';
import { areas } from '../src/contract/documents.ts';
import { breaksOf, createAnnouncements, type Diff } from './contract/breaks.ts';
import { diffDocuments } from './redocly.ts';
import { runProgram } from './run-program.ts';

const generated = 'src/contract/generated';
/** The bundles of the last release, as they were published. */
const released = 'openapi/released';

const help = `Usage: npm run contract:diff -- [BASE] [--record]

Compares the contract with that of BASE by redocly diff, and lists what breaks callers.

  BASE      a folder with blockchain.json, events.json and so on, or a revision of git;
            by default the last release (${released})
  --record  keep the present contract as the last release (part of making a release)
  --help    show this text

Exit status: 0 nothing breaks, or CHANGELOG.md announces what does; 1 something breaks
unannounced; 2 wrong use. A change is announced by a line below "### Breaking" of the
section "## Unreleased" that names its subject and rule in backticks, such as
  - \`GET /event\` \`parameter-removed\`: use startsFrom instead of from.
`;

/** The document of an area at the base: a folder, or a revision of git. */
const readBase = (base: string, area: string) =>
  readFile(join(base, `${area}.json`), 'utf8').catch(() =>
    // What begins with a dash would be read as an option.
    runProgram('git', ['show', `${base.replace(/^-+/, '')}:${generated}/${area}.json`]),
  );

/**
 * Compares the areas that the base has; others are new.
 * @throws Error when the base has none
 */
async function compareAll(base: string): Promise<Diff[]> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-contract-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const diffs = await Promise.all(
    areas.map(async (area): Promise<Diff[]> => {
      const text = await readBase(base, area).catch(() => undefined);
      if (text === undefined) return [];
      const before = join(folder, `${area}.json`);
      await writeFile(before, text);
      return [{ area, changes: await diffDocuments(before, join(generated, `${area}.json`)) }];
    }),
  );
  if (diffs.flat().length === 0)
    throw new Error(`${base} is neither a folder with the documents nor a revision of git that has them.`);
  return diffs.flat();
}

async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    options: { record: flag, help: { ...flag, short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  if (values.record) {
    for (const area of areas) await copyFile(join(generated, `${area}.json`), join(released, `${area}.json`));
    return;
  }
  const diffs = await compareAll(positionals[0] ?? released);
  const isAnnounced = createAnnouncements(await readFile('CHANGELOG.md', 'utf8'));
  const breaks = diffs.flatMap(breaksOf);
  const unannounced = breaks.filter((each) => !isAnnounced(each));
  for (const each of breaks) {
    const { area, subject, rule, message } = each;
    const note = isAnnounced(each) ? ' (announced)' : '';
    process.stdout.write(`${area}: \`${subject}\` \`${rule}\`: ${message}${note}\n`);
  }
  const count = diffs.reduce((sum, { changes }) => sum + changes.length, 0);
  process.stdout.write(`${count} differences, ${breaks.length} of them break callers\n`);
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
