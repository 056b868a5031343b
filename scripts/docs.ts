import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runScript } from './run-script.ts';

const usage = `Usage: npm run docs [-- OPTION ...]

Builds the portal from the bundled documents, the error catalogue and openapi/portal/: a start page, one
reference per area, one page per problem, and the documents themselves. The folder "partners" gets the same without the
pages for operators and developers. Nothing is done when it is current.

  --out DIRECTORY   where to write it (default: dist/portal)
  --if-installed    succeed without doing anything where its packages are not installed (npm ci --omit=dev)
  --quiet           print nothing but errors
  --help            show this text
`;

const options = {
  out: { type: 'string', default: join(import.meta.dirname, '../dist/portal') },
  'if-installed': { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Whether the development dependencies that make the pages are there. */
function isInstalled(): boolean {
  try {
    return import.meta.resolve('marked') !== '';
  } catch {
    return false;
  }
}

/** @returns the exit status */
async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  const say = (line: string) => {
    if (!values.quiet) process.stdout.write(`${line}\n`);
  };
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const directory = resolve(values.out);
  if (values['if-installed'] && !isInstalled()) {
    say('The portal is built where the development dependencies are installed.');
    return 0;
  }
  // Only now: it needs the development dependencies.
  const { buildPortal } = await import('./docs/build.ts');
  await buildPortal({ directory, report: say });
  return 0;
}

await runScript(main);
