import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { kindOf } from './shape.ts';

/** A line of the README that calls the sample world, and the answer that the README shows below it. */
type ReadmeSample = { readonly line: string; readonly shown: unknown };

/** The samples of the README, and what the service answers to their lines. */
export type ReadmeAnswer = ReadmeSample & { readonly answered: unknown };

type Live = { readonly baseUrl: string; readonly key: string };

const readme = new URL('../../../README.md', import.meta.url);
// What each new world makes anew: times, and what follows from times, such as fees and hashes of blocks.
const made = ['cursor', 'gas_price', 'transaction_fee', 'block_timestamp', 'block_hash'];

async function readmeSamples(): Promise<ReadmeSample[]> {
  const text = await readFile(readme, 'utf8');
  return [...text.matchAll(/```sh\n(curl [^`]*)\n```\n\n```json\n([^`]*)```/g)].map(
    ([, line = '', json = '']) => ({
      line,
      shown: JSON.parse(json),
    }),
  );
}

/** Runs the README's lines as they stand, with what the README says to export. */
async function askAsReadme({ baseUrl, key }: Live): Promise<ReadmeAnswer[]> {
  const env = { PATH: process.env['PATH'], TALLYSTICK: baseUrl, TALLYSTICK_KEY: key };
  const answers: ReadmeAnswer[] = [];
  for (const { line, shown } of await readmeSamples()) {
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env, timeout: 20_000 });
    answers.push({ line, shown, answered: JSON.parse(stdout) });
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
    const isRight = answers.every(({ shown, answered }) => differences(shown, answered).length === 0);
    if (isRight || performance.now() > deadline) return answers;
  }
}

/** The places where an answer is not as the README shows it. A value that each world makes anew must be of the same kind. */
export function differences(shown: unknown, answered: unknown, place = ''): string[] {
  if (kindOf(shown) !== kindOf(answered)) return [`${place}: ${kindOf(shown)}, answered ${kindOf(answered)}`];
  if (typeof shown === 'object' && shown !== null) {
    const [left, right] = [new Map(Object.entries(shown)), new Map(Object.entries(answered ?? {}))];
    const names = [...new Set([...left.keys(), ...right.keys()])];
    return names.flatMap((name) => {
      if (!left.has(name)) return [`${place}.${name}: is answered, not shown`];
      if (!right.has(name)) return [`${place}.${name}: is shown, not answered`];
      return differences(left.get(name), right.get(name), `${place}.${name}`);
    });
  }
  return isMadeAnew(place) || shown === answered ? [] : [`${place}: ${shown}, answered ${answered}`];
}

/** Whether each new world makes the value of this place anew. */
export const isMadeAnew = (place: string): boolean => made.includes(place.split('.').at(-1) ?? '');
