import { contractTest } from '../test/contract/command.ts';

process.exitCode = await contractTest(process.argv.slice(2), (text) => process.stdout.write(`${text}\n`));
