import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Area, areas } from '../../src/contract/documents.ts';
import { createConformance } from '../support/conformance.ts';
import { assertReachable, statusOf, Unusable } from './reach.ts';
import { toFailures, toGaps, toJUnit, toSummary, toTable } from './report.ts';
import { type CaseResult, runCases } from './run-cases.ts';
import { baseUrlsOf, createSender, type Sender } from './sender.ts';
import { createSession, type Leavings, type Session } from './session.ts';

type Print = (text: string) => void;

const usage = `Usage: npm run contract:test -- --base-url <url> --key <key> [options]

Compares a running deployment with the documents: every operation, every documented status that can be
provoked from outside, every example. Without --write it sends only what changes nothing: reads, and
requests that must be rejected.

  --base-url <url>         where the deployment is reached, such as https://api.example.com
  --blockchain-url <url>   the same for one area that has a host of its own;
  --events-url <url>       the paths /blockchain/v1/api, /events/v1/api, /v1/api
  --rwa-url <url>          and /claim/v1/api are added to each
  --claim-url <url>
  --key <key>              API key of a company
  --other-key <key>        key of another company, for what belongs to others
  --no-company-key <key>   key without a company
  --scoped-key <key>       key of the company with the scope secrets:read only
  --write                  also make events (deleted at the end) and NFTs (named at the end)
  --areas <names>          only these areas, separated by commas
  --only <operationId>     only this operation; may be repeated
  --chain <id>             network to ask about (default: that of the company's RWAs)
  --wallet <address>       wallet to ask about, and
  --token <address>        ERC-20 contract on the network (default: found in the history of the wallet)
  --timeout <seconds>      time for one answer (default 30)
  --junit <file>           write the results as JUnit XML
  --help                   show this text

Exit status: 0 all as documented, 1 something is not, 2 nothing could be tested.
`;

type Values = ReturnType<typeof parseOptions>;

function parseOptions(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      'base-url': text,
      'blockchain-url': text,
      'events-url': text,
      'rwa-url': text,
      'claim-url': text,
      key: { type: 'string', default: '' },
      'other-key': text,
      'no-company-key': text,
      'scoped-key': text,
      write: { type: 'boolean', default: false },
      areas: { type: 'string', default: areas.join(',') },
      only: { type: 'string', multiple: true, default: [] },
      chain: text,
      // The name of --chain in 0.1.0.
      'chain-id': text,
      wallet: text,
      token: text,
      timeout: { type: 'string', default: '30' },
      junit: text,
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

function chosenAreas(values: Values): Area[] {
  const names = values.areas.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !areas.some((area) => area === name));
  if (unknown.length > 0) throw new Unusable(`--areas knows ${areas.join(', ')}, not ${unknown.join(', ')}`);
  return areas.filter((area) => names.includes(area));
}

function openSender(values: Values, chosen: readonly Area[]): Sender {
  const own = {
    blockchain: values['blockchain-url'],
    events: values['events-url'],
    rwa: values['rwa-url'],
    claim: values['claim-url'],
  };
  for (const text of [values['base-url'], ...Object.values(own)]) {
    if (text !== undefined && !/^https?:\/\//.test(text)) throw new Unusable(`${text} is no http(s) URL`);
  }
  const found = baseUrlsOf(values['base-url'], own);
  const lacking = chosen.filter((area) => found[area] === undefined);
  if (lacking.length > 0) throw new Unusable(`--base-url is missing, or --${lacking[0]}-url. See --help`);
  const timeoutMs = Number(values.timeout) * 1_000;
  if (!(timeoutMs > 0)) throw new Unusable('--timeout must be a number of seconds above 0');
  // An area without a URL is not asked.
  const any = Object.values(found)[0] ?? new URL('http://localhost');
  return createSender({
    baseUrls: { blockchain: any, events: any, rwa: any, claim: any, news: any, ...found },
    timeoutMs,
  });
}

function openSession(values: Values, sender: Sender): Session {
  const chainId = values.chain ?? values['chain-id'];
  return createSession({
    sender,
    check: createConformance().check,
    keys: {
      own: values.key,
      other: values['other-key'],
      noCompany: values['no-company-key'],
      scoped: values['scoped-key'],
    },
    mayWrite: values.write,
    given: {
      ...(chainId !== undefined && { chainId }),
      ...(values.wallet !== undefined && { wallet: values.wallet }),
      ...(values.token !== undefined && { token: values.token }),
    },
  });
}

function tell(results: readonly CaseResult[], left: Leavings, print: Print): void {
  print(toTable(results));
  const gaps = toGaps(results);
  if (gaps !== '') print(`Not provoked:\n${gaps}`);
  const failures = toFailures(results);
  if (failures !== '') print(`Failed:\n${failures}`);
  print(toSummary(results));
  if (left.deletedEvents > 0) print(`${left.deletedEvents} events were made and deleted.`);
  if (left.undeletedEvents.length > 0)
    print(`These events could not be deleted: ${left.undeletedEvents.join(' ')}`);
  if (left.nfts.length > 0)
    print(`${left.nfts.length} NFTs stay, since none can be deleted: ${left.nfts.join(' ')}`);
}

async function testDeployment(values: Values, print: Print): Promise<number> {
  const chosen = chosenAreas(values);
  const sender = openSender(values, chosen);
  const session = openSession(values, sender);
  const isChosen = ({ area, operation }: CaseResult['tried']) =>
    chosen.includes(area) && (values.only.length === 0 || values.only.includes(operation));
  try {
    await assertReachable(sender, chosen, values.key);
    const results = await runCases(session, { only: isChosen });
    const left = await session.cleanUp();
    tell(results, left, print);
    if (values.junit !== undefined) writeFileSync(values.junit, toJUnit(results));
    const failed = results.some(({ outcome }) => outcome === 'failed');
    return failed || left.undeletedEvents.length > 0 ? 1 : 0;
  } finally {
    sender.close();
  }
}

/** Runs `contract:test` with these arguments. @returns the exit status */
export function contractTest(args: readonly string[], print: Print): Promise<number> {
  return statusOf(async () => {
    const values = parseOptions(args);
    if (!values.help) return testDeployment(values, print);
    print(usage);
    return 0;
  }, print);
}
