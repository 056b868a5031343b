import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createProgress } from '../../src/cli/shared/progress.ts';
import { areas } from '../../src/contract/documents.ts';
import { assertReachable, statusOf, Unusable } from '../contract/reach.ts';
import { createSender, type Sender } from '../contract/sender.ts';
import { createSession } from '../contract/session.ts';
import { createConformance } from '../support/conformance.ts';
import { startLocalTarget, type Target } from './local-target.ts';
import { prepareContext } from './prepare.ts';
import { createProbing } from './prober.ts';
import { allProperties } from './properties.ts';
import type { Finding } from './property.ts';
import { runProperties } from './run-properties.ts';

const usage = `Usage: npm run fuzz -- [--requests <n>] [--seed <n>] [--only <text>] [--base-url <url> --key <key>]

Sends requests made from the documents, those that fit and those that do not, and chains of them, and
compares every answer with the documents. Without --base-url it starts a service of its own.

  --requests <n>     how many requests at least (default 20000)
  --seed <n>         repeat the run that printed this seed
  --only <text>      only the properties whose name has this text
  --base-url <url>   a running deployment, without rate limits; it gets events (deleted at the end) and NFTs
  --key <key>        API key of a company there
  --other-key <key>  key of another company there
  --wallet <address> a wallet with a history there
  --list             name the properties
  --help             show this text

Exit status: 0 no finding, 1 findings, 2 nothing could be tried.
`;

type Print = (text: string) => void;
type Values = ReturnType<typeof parseOptions>;

function parseOptions(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: { type: 'string', default: '20000' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      only: { type: 'string', default: '' },
      'base-url': text,
      key: { type: 'string', default: '' },
      'other-key': text,
      wallet: { type: 'string', default: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

function wholeNumber(text: string, option: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Unusable(`${option} must be a whole number, not ${text}`);
}

function openTarget(values: Values): Promise<Target> {
  const { 'base-url': baseUrl, 'other-key': otherKey, key, wallet } = values;
  if (baseUrl === undefined) return startLocalTarget();
  if (!/^https?:\/\//.test(baseUrl)) throw new Unusable(`${baseUrl} is no http(s) URL`);
  return Promise.resolve({
    baseUrl,
    key,
    otherKey,
    wallets: [wallet],
    token: undefined,
    close: async () => {},
  });
}

function openSession(sender: Sender, { key, otherKey, wallets }: Target) {
  const [wallet = ''] = wallets;
  const keys = { own: key, other: otherKey, noCompany: undefined, scoped: undefined };
  return createSession({ sender, check: createConformance().check, keys, mayWrite: true, given: { wallet } });
}

/** A finding as somebody needs it who wants to see it again. */
function tell({ property, reason, trace }: Finding, seed: number, print: Print): void {
  print(`\nFINDING  ${property}\n${reason.replaceAll(/^/gm, '  ')}`);
  print('  smallest counterexample:');
  for (const { curl, status, text } of trace.slice(-15))
    print(`  ${curl.slice(0, 4_000)}\n    → ${status} ${text.slice(0, 500)}`);
  print(`  again: npm run fuzz -- --seed ${seed} --only '${property}'`);
}

async function fuzz(values: Values, target: Target, print: Print): Promise<number> {
  const requests = wholeNumber(values.requests, '--requests');
  const seed = wholeNumber(values.seed, '--seed');
  const url = new URL(target.baseUrl);
  const sender = createSender({
    baseUrls: { blockchain: url, events: url, rwa: url, claim: url, news: url },
    timeoutMs: 30_000,
    hiddenKeys: [target.key, target.otherKey ?? ''],
  });
  const session = openSession(sender, target);
  const probing = createProbing(sender);
  const progress = createProgress(process.stderr, 'Requests');
  try {
    await assertReachable(sender, areas, target.key);
    const started = performance.now();
    const context = await prepareContext(session, target);
    const chosen = allProperties(context).filter(({ name }) => name.includes(values.only));
    if (values.list) print(chosen.map(({ name }) => name).join('\n'));
    if (values.list) return 0;
    if (chosen.length === 0) throw new Unusable(`no property has ${values.only} in its name. See --list`);
    const onProgress = (sent: number) => progress.update(Math.min(sent, requests), requests);
    const findings = await runProperties(chosen, probing, { requests, seed, lanes: 8, onProgress });
    progress.stop();
    for (const finding of findings) tell(finding, seed, print);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    print(
      `${probing.sent()} requests, ${chosen.length} properties, ${findings.length} findings, ${seconds} s, seed ${seed}`,
    );
    return findings.length === 0 ? 0 : 1;
  } finally {
    progress.stop();
    await session.cleanUp();
    sender.close();
  }
}

/** Runs `fuzz` with these arguments. @returns the exit status */
export function fuzzCommand(args: readonly string[], print: Print): Promise<number> {
  return statusOf(async () => {
    const values = parseOptions(args);
    if (values.help) print(usage);
    if (values.help) return 0;
    const target = await openTarget(values);
    try {
      return await fuzz(values, target, print);
    } finally {
      await target.close();
    }
  }, print);
}
