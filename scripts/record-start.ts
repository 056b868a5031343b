import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { drawTerminal } from './docs/terminal-picture.ts';
import { startLocalInstance } from './local-instance.ts';
import { runScript } from './run-script.ts';

const file = 'docs/images/start.svg';
const help = `Usage: node scripts/record-start.ts

Runs npm start with a new sample world, and draws what it prints as ${file}, which README.md shows.
Run it when npm run test:portal reports that the picture differs.
`;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const { output, stop } = await startLocalInstance();
  await stop();
  await writeFile(file, drawTerminal('npm start', output));
  process.stdout.write(`${file} shows ${output.split('\n').length} lines.\n`);
  return 0;
}

await runScript(main);
