import type { Command } from 'commander';
import { errorText } from '../../base/thrown.ts';
import { closingHint, findOpenFiles } from '../../compose/open-files.ts';
import { type Config, ConfigError } from '../../config/config.ts';
import { gatherSettings } from '../../config/settings-file.ts';
import type { Database } from '../../contract/transaction.ts';
import { type DatabaseState, inspectDatabase } from '../../db/schema/inspect.ts';
import { findMissingRights, isTemporaryForAll } from '../../db/schema/role-store.ts';
import { assertSupported, assertUsable, newerSchema } from '../../db/schema/schema-check.ts';
import { assertJobTables } from '../../jobs/job-table-store.ts';
import { type DatabaseOrigin, explainDatabase } from '../shared/database-failure.ts';
import { examples } from '../shared/examples.ts';
import { type Finding, fault, finding, findings, ok, warning } from '../shared/finding.ts';
import { openForCommand, type Session } from '../shared/session.ts';
import { examineEnvironment } from './environment-check.ts';
import { examineCluster } from './index-check.ts';
import { examineClock, examineConnections, examinePortal, examineSnapshots } from './machine-check.ts';
import { examineBaseAddresses } from './minter-check.ts';
import { examineReplica } from './replica-check.ts';
import { examineService } from './service-check.ts';

export function addDoctorCommand(program: Command, session: Session): void {
  const doctor = program
    .command('doctor')
    .description(
      'Check settings, database, keys, every node and every contract, and say what to fix; exit status 1 on a fault. ' +
        'Verify the key in TALLYSTICK_KEY, too',
    )
    .action(async () => {
      const findings = await examine(session);
      const output = session.output();
      output.rows(findings, { state: 'STATE', check: 'CHECK', detail: 'DETAIL' });
      const faults = findings.filter(({ state }) => state === 'FAULT');
      if (faults.length === 0) return output.say(verdictOf(findings));
      output.say(`${faults.length} fault(s): fix them from the top, then run tallystick doctor again.`);
      session.fail();
    });
  examples(doctor, 'doctor', 'doctor --json | jq \'.[] | select(.state == "FAULT")\'');
}

/** The last word where nothing is at fault. */
function verdictOf(findings: readonly Finding[]): string {
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  if (warnings === 0) return 'Everything that the service needs is in order.';
  return `The service can run, but ${warnings} warning(s) above name what is missing or at risk.`;
}

/** Examines everything, from the settings on. A part that cannot be examined is a finding. */
export async function examine(session: Session): Promise<Finding[]> {
  let config: Config;
  try {
    config = await session.config();
  } catch (error) {
    const faults = error instanceof ConfigError ? error.faults : [errorText(error)];
    return faults.map((detail) => fault('settings', detail));
  }
  await using opened = new AsyncDisposableStack();
  const parts = { ...openForCommand(config, opened), config, isLocal: session.local() };
  const { db, isLocal } = parts;
  const found = await examineDatabase(db, config, { url: config.DATABASE_URL, local: isLocal });
  const isSound = found.every(({ state }) => state !== 'FAULT');
  const addresses = isLocal ? [] : examineBaseAddresses(config);
  return [
    ok('settings', 'every setting is valid'),
    ...examineEnvironment(session.environment),
    ...examineFiles(session, config),
    ...addresses,
    ...(await examinePortal(config)),
    ...found,
    ...(isSound ? await examineRights(db) : []),
    ...(isSound ? await findings('cluster', () => examineCluster(parts)) : []),
    ...(isSound ? await examineReplica(parts) : []),
    ...(isSound ? await examineService(parts, keyOf(session)) : []),
  ];
}

/** Whether others can read the files of settings and secrets; nothing where there are none that matter. */
function examineFiles(session: Session, config: Config): Finding[] {
  if (session.local()) return [];
  const settingsFile = session.settingsFile();
  const open = findOpenFiles(config, gatherSettings(session.environment, settingsFile), settingsFile);
  if (open.length === 0) return [];
  const named = open.map(({ file, mode, readers }) => `${file} (${readers}, mode ${mode})`);
  return [warning('files', `others can read ${named.join(', ')}: ${closingHint}`)];
}

/** A key that a program has for its calls, as the tools for language models take it. */
const keyOf = ({ environment }: Session) => environment['TALLYSTICK_KEY'] || undefined;

function durability({ lossy }: DatabaseState): Finding {
  if (lossy.length === 0) return ok('durability', 'every commit waits for the disk');
  return warning(
    'durability',
    `${lossy.join(', ')} off: a crash of the server may lose mints that were accepted; switch on`,
  );
}

async function examineRights(db: Database): Promise<Finding[]> {
  const rights = await finding('rights', async () => {
    const missing = await findMissingRights(db);
    if (missing.length === 0) return 'users of the roles may do what they need';
    throw new Error(
      `${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}: run tallystick migrate`,
    );
  });
  if (rights.state !== 'ok' || !(await isTemporaryForAll(db))) return [rights];
  return [
    warning(
      'rights',
      'everybody may make temporary tables: run tallystick migrate, which says what else it needs',
    ),
  ];
}

async function examineDatabase(db: Database, config: Config, origin: DatabaseOrigin): Promise<Finding[]> {
  try {
    const started = performance.now();
    const state = await inspectDatabase(db);
    const time = `${Math.ceil(performance.now() - started)} ms`;
    return [
      await finding('database', () => {
        assertSupported(state);
        return `PostgreSQL ${state.version} answers in ${time}`;
      }),
      durability(state),
      await examineClock(db),
      await examineConnections(db, config),
      await examineSnapshots(db),
      await finding('schema', () => {
        assertUsable(state);
        return newerSchema(state) ?? 'that of this release';
      }),
      await finding('jobs', async () => {
        await assertJobTables(db);
        return 'the job queue has its tables';
      }),
    ];
  } catch (error) {
    return [fault('database', explainDatabase(error, origin) ?? errorText(error))];
  }
}
