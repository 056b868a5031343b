import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Command } from 'commander';
import type { Environment } from '../../config/config.ts';
import { parseSettings } from '../../config/settings-file.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import type { Finding } from '../shared/finding.ts';
import type { Prompt } from '../shared/prompt.ts';
import type { Session } from '../shared/session.ts';
import { databaseFault } from './database-answer.ts';
import { type MadeSigner, makeSigners } from './keystores.ts';
import { type Asked, chainIdsFault, isGiven, mintQuestion, questions, settingFault } from './questions.ts';
import { findSettingsPlace } from './settings-place.ts';
import { withSettings } from './settings-text.ts';

type Values = Record<string, string>;

type Options = { readonly yes?: true; readonly mint?: string } & Readonly<
  Record<string, string | true | undefined>
>;

/** Checks the service over these settings, as `tallystick doctor` does. */
export type Examine = (settings: string) => Promise<readonly Finding[]>;

const defaultFile = 'tallystick.env';

export function addInitCommand(program: Command, session: Session, examine: Examine): void {
  const init = program
    .command('init')
    .description(
      `Ask for the settings of the service and write them to ${defaultFile} or --settings. A second run keeps the settings in the file and asks for the others`,
    )
    .option('-y, --yes', 'ask nothing: use options and environment, and name missing settings');
  for (const { name, option } of questions) init.option(`--${option} <value>`, `${name}`);
  init
    .option('--mint <chainIds>', 'chain ids to mint on, separated by commas; creates a keystore for each')
    .action(async (options: Options) => {
      const made = await makeSettings(session, options);
      report(session, made);
      await tellMissing(session, await examine(made.file), made);
    });
  examples(
    init,
    'init',
    'init --settings /etc/tallystick/settings.env',
    'init --yes --public-base-url https://api.example.com --mint 137   # DATABASE_URL from the environment',
  );
}

type Made = {
  readonly file: string;
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly signers: readonly MadeSigner[];
};

async function makeSettings(session: Session, options: Options): Promise<Made> {
  const given = optionValues(options);
  const place = await findSettingsPlace(session.settingsFile() ?? defaultFile);
  const present = place.text === undefined ? {} : parseSettings(place.text, place.path);
  const values: Values = { ...fromEnvironment(session.environment, present), ...given };
  const known = { ...present, ...values };
  const prompt = options.yes === true ? undefined : session.prompt;
  if (prompt !== undefined) Object.assign(values, await askMissing(prompt, known));
  Object.assign(values, newKeys({ ...known, ...values }));
  const chainIds = await mintIds(options, { ...known, ...values }, prompt);
  const folder = path.join(path.dirname(place.path), 'keystores');
  const { signers, values: named } = await makeSigners({
    chainIds,
    folder,
    present: { ...known, ...values },
  });
  Object.assign(values, named);
  const changed = Object.entries(values).filter(([name, value]) => present[name] !== value);
  if (changed.length > 0 || place.text === undefined) {
    await place.replace(withSettings(place.text, Object.fromEntries(changed), place.path));
  }
  const written = changed.map(([name]) => name);
  const kept = Object.keys(present).filter((name) => !written.includes(name));
  return { file: place.path, written, kept, signers };
}

/** @throws UsageError naming every option with a wrong value */
function optionValues(options: Options): Values {
  const values: Values = {};
  const faults: string[] = [];
  for (const { name, option } of questions) {
    const value = options[option.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    if (typeof value !== 'string') continue;
    const fault = settingFault(name, value);
    if (fault === undefined) values[name] = value;
    else faults.push(`--${option} ${fault}.`);
  }
  const fault = options.mint === undefined ? undefined : chainIdsFault(options.mint);
  if (fault !== undefined) faults.push(`--mint ${fault}.`);
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return values;
}

const keyNames = ['SECRET_KEYS', 'CURSOR_KEYS'] as const;

/** What the environment gives and the file does not have: a value there is as good as an answer. */
function fromEnvironment(env: Environment, present: Environment): Values {
  const names = [
    ...questions.map(({ name }) => name),
    ...keyNames,
    'MINT_SIGNERS',
    'MINT_KEYSTORE_PASSWORD_FILE',
  ];
  const missing = names.filter((name) => !isGiven(present, name));
  return Object.fromEntries(
    missing.flatMap((name) =>
      [name, `${name}_FILE`].flatMap((each) => {
        const value = env[each];
        if (!value) return [];
        return [[each, each.endsWith('_FILE') ? path.resolve(value) : value]];
      }),
    ),
  );
}

/** @throws UsageError when nobody answers */
async function askMissing(prompt: Prompt, known: Environment): Promise<Values> {
  const answers: Values = {};
  for (const asked of questions.filter(({ name }) => !isGiven(known, name))) {
    const answer = await answerTo(prompt, asked);
    if (answer !== '') answers[asked.name] = answer;
  }
  return answers;
}

async function answerTo(prompt: Prompt, asked: Asked): Promise<string> {
  const isDatabase = asked.name === 'DATABASE_URL';
  const fault = async (answer: string) => {
    if (answer === '' && !isDatabase) return undefined;
    const wrong = settingFault(asked.name, answer);
    if (wrong !== undefined || !isDatabase) return wrong;
    const unusable = await databaseFault(answer);
    return (
      unusable &&
      `${unusable} To write a URL that does not work yet, end this, and give it by --database-url.`
    );
  };
  return answered(await prompt({ ...asked, fault }));
}

function answered(answer: string | undefined): string {
  if (answer !== undefined) return answer;
  throw new UsageError('Nobody answers: give options, and --yes. Nothing was written.');
}

async function mintIds(options: Options, known: Environment, prompt: Prompt | undefined): Promise<string[]> {
  const isAsked = options.mint === undefined && prompt !== undefined && !known['MINT_SIGNERS'];
  const text = isAsked ? answered(await prompt(mintQuestion)) : (options.mint ?? '');
  return text === '' ? [] : text.split(',').map((id) => id.trim());
}

/**
 * Keys where none is given. No other run has their ids. So lost keys are missed by their ids, and these keys are not
 * taken for them.
 */
function newKeys(known: Environment): Values {
  const id = () => `${new Date().getUTCFullYear()}-${randomBytes(3).toString('hex')}`;
  return Object.fromEntries(
    keyNames
      .filter((name) => !isGiven(known, name))
      .map((name) => [name, `${id()}:${randomBytes(32).toString('base64')}`]),
  );
}

function report(session: Session, { file, written, kept, signers }: Made): void {
  const output = session.output();
  output.record({ settings: file, written, kept, signers });
  for (const { chainId, address } of signers) {
    output.say(
      `The signer of network ${chainId} is ${address}: send it funds, and let it mint by contract grant.`,
    );
  }
}

async function tellMissing(
  session: Session,
  findings: readonly Finding[],
  { file, signers }: Made,
): Promise<void> {
  const output = session.output();
  for (const { state, check, detail } of findings.filter(({ state }) => state !== 'ok')) {
    output.say(`${state === 'FAULT' ? 'Missing' : 'Note'}: ${check}: ${detail}`);
  }
  const added = signers.map(({ chainId }) => `tallystick network add ${chainId} --help`);
  const next = ['tallystick migrate', ...added, 'tallystick doctor', 'npm run serve'];
  output.say(`Next: export TALLYSTICK_SETTINGS=${file}, then ${next.join(', ')}`);
  if (findings.some(({ state, check }) => state === 'FAULT' && check === 'settings')) session.fail();
}
