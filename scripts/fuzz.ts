import { fuzzCommand } from '../test/fuzz/command.ts';

process.exitCode = await fuzzCommand(process.argv.slice(2), (text) => process.stdout.write(`${text}\n`));
