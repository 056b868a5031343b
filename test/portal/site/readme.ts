import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { kindOf } from './shape.ts';

/** A line of the README that calls the sample world, and the answer that the README shows below it. */
type ReadmeSample = { readonly line: string; readonly shown: unknown };

/** The samples of the README, and what the service answers to their lines. */
export type ReadmeAnswer = ReadmeSample & { readonly answered: unknown };

type Live = { readonly baseUrl: string; readonly key: string };

const readme = new URL('../../../README.md', import.meta.url);
// What each new world makes anew: times, and what follows from times, such as fees and hashes of blocks.
const made = ['cursor', 'gas_price', 'transaction_fee', 'block_timestamp', 'block_hash'];

/** Reads JSON, with the kind of each value that a new world makes anew in its place. */
const parse = (json: string): unknown =>
  JSON.parse(json, (name, value) => (made.includes(name) ? kindOf(value) : value));

async function readmeSamples(): Promise<ReadmeSample[]> {
  const text = await readFile(readme, 'utf8');
  return [...text.matchAll(/```sh\n(curl [^`]*)\n```\n\n```json\n([^`]*)```/g)].map(
    ([, line = '', json = '']) => ({ line, shown: parse(json) }),
  );
}

/** Runs the README's lines as they stand, with what the README says to export. */
async function askAsReadme({ baseUrl, key }: Live): Promise<ReadmeAnswer[]> {
  const env = { PATH: process.env['PATH'], TALLYSTICK: baseUrl, TALLYSTICK_KEY: key };
  const answers: ReadmeAnswer[] = [];
  for (const { line, shown } of await readmeSamples()) {
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env, timeout: 20_000 });
    answers.push({ line, shown, answered: parse(stdout) });
  }
  return answers;
}

/**
 * Asks a new world as the README does, before anything changes it. Waits until the README is right, since metadata of tokens
 * come a moment after the index, for ten seconds at most.
 */
export async function readmeAnswers(live: Live): Promise<ReadmeAnswer[]> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const answers = await askAsReadme(live);
    const isRight = answers.every(({ shown, answered }) => isDeepStrictEqual(shown, answered));
    if (isRight || performance.now() > deadline) return answers;
  }
}
