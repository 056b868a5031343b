import { type Area, basePaths } from '../../src/contract/documents.ts';
import type { Answer } from '../support/conformance.ts';
import { NoAnswerError, type Sender } from './sender.ts';
import { detailOf } from './session.ts';

// One list of each area, whose answer is short.
const probes: Readonly<Record<Area, string>> = {
  blockchain: `${basePaths.blockchain}/token/balance`,
  events: `${basePaths.events}/event?limit=1`,
  rwa: `${basePaths.rwa}/rwa?limit=1`,
  // No GET there, which is told to everybody.
  claim: `${basePaths.claim}/claims/none`,
  news: `${basePaths.news}/feed?limit=1`,
};

const remedies: Readonly<Record<string, string>> = {
  ENOTFOUND: 'There is no host of this name.',
  ECONNREFUSED: 'Nothing listens there.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Its certificate is signed by itself: give NODE_EXTRA_CA_CERTS.',
};

/** Says why nothing can be tried. */
export class Unusable extends Error {}

/** @throws Unusable when something stands in the way of an area, with the remedy */
export async function assertReachable(sender: Sender, chosen: readonly Area[], key: string): Promise<void> {
  if (key === '') throw new Unusable('--key is missing. See --help');
  const obstacles = await Promise.all(chosen.map((area) => findObstacle(sender, area, key)));
  const told = obstacles.filter((obstacle) => obstacle !== undefined);
  if (told.length > 0) throw new Unusable(told.join('\n'));
}

/** Runs a command. @returns its exit status, which is 2 after wrong arguments and where nothing can be tried */
export async function statusOf(run: () => Promise<number>, print: (text: string) => void): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const isOfArguments = error instanceof TypeError && 'code' in error;
    if (!(error instanceof Unusable) && !isOfArguments) throw error;
    print(error.message);
    return 2;
  }
}

/**
 * Whether an area can be tested at all with this key.
 * @returns what stands in the way, with the remedy, or nothing
 */
async function findObstacle(sender: Sender, area: Area, key: string): Promise<string | undefined> {
  const request = { area, method: 'get', path: probes[area], headers: { 'x-api-key': key } };
  const option = `Check --base-url, or --${area}-url if this area has a host of its own.`;
  try {
    return obstacleIn(await sender.send(request), area, option);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    return `${area}: ${error.message}. ${remedies[error.code ?? ''] ?? ''} ${option}`;
  }
}

function obstacleIn(answer: Answer, area: Area, option: string): string | undefined {
  const isProblem = answer.headers['content-type']?.startsWith('application/problem+json') ?? false;
  const { status } = answer;
  if (status === 200 || ((status === 400 || status === 405) && isProblem)) return undefined;
  const what = `GET ${probes[area]} answered ${status}`;
  if (!isProblem)
    return `${area}: ${what} ${answer.headers['content-type'] ?? ''}; this is no Tallystick. ${option}`;
  if (status === 404) return `${area}: ${what}; this deployment does not serve the area. ${option}`;
  if (status === 401) return `${area}: the key is refused (${detailOf(answer)}). Check --key.`;
  if (status === 403) return `${area}: ${detailOf(answer)}. Give --key of a company, or --areas blockchain.`;
  return `${area}: ${what}: ${detailOf(answer)}`;
}
