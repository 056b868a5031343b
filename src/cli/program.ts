import type { Readable, Writable } from 'node:stream';
import { Command } from 'commander';
import type { ClientSettings } from '../config/client-settings.ts';
import type { Config } from '../config/config.ts';
import { settingsFileVariable } from '../config/settings-file.ts';
import { addAuditCommands } from './audit.ts';
import { addCompanyCommands } from './company.ts';
import { addContractCommands } from './contract.ts';
import { addDoctorCommand, examine } from './doctor/doctor.ts';
import { addDoorCommands } from './door.ts';
import { addIndexCommands } from './index/chain-index.ts';
import { addInitCommand } from './init/init.ts';
import { addKeyCommands } from './key.ts';
import { addKeystoreCommands } from './keystore.ts';
import { addMcpCommand } from './mcp/mcp.ts';
import { addMigrateCommand } from './migrate.ts';
import { addMintCommands } from './mint.ts';
import { addNetworkCommands } from './network/network.ts';
import { addNewsCommands } from './news.ts';
import { addRecoverCommand } from './recover.ts';
import { addRwaCommands } from './rwa/rwa.ts';
import { addSecretKeyCommands } from './secret-key.ts';
import { explainFailure } from './shared/failure.ts';
import { createOutput } from './shared/output.ts';
import type { Watched } from './shared/progress.ts';
import type { Session, Surroundings } from './shared/session.ts';
import { addStatusCommand } from './status.ts';
import { addUsageCommand } from './usage.ts';

export type ProgramParts = Surroundings & {
  /**
   * Reads the address of the service that a command calls: with `local`, the service that `npm start` made. @throws
   * ConfigError
   */
  readonly loadClientSettings: (options: { local: boolean }) => ClientSettings;
  readonly stdin: Readable;
  readonly stdout: Writable;
  /**
   * Reads the settings: with `local`, the settings that `npm start` made; else the settings of the environment and of a
   * file. @throws ConfigError
   */
  readonly loadConfig: (from: { local: boolean; settings: string | undefined }) => Config | Promise<Config>;
  readonly stderr: Watched;
};

const afterHelp = `
Start:
  $ tallystick init                                     make a settings file
  $ tallystick migrate                                  make the tables
  $ tallystick company create acme                      register a company
  $ tallystick key create --company acme --label web    give it a key
  $ tallystick network add 1 --name Ethereum --symbol ETH --rpc https://node.example
  $ tallystick doctor                                   check everything

Output: tables for people; with --json one JSON value on standard output, and on standard error one JSON
object a line, {"note": ...} or {"error": {"message": ..., "exitCode": ...}}.
Exit status: 0 done; 1 it failed, or a fault was found; 2 the command or the settings are wrong;
130 interrupted.`;

/**
 * Runs one command line.
 * @param args without the names of the runtime and of the program
 * @returns the exit status
 */
export async function runCommandLine(parts: ProgramParts, args: readonly string[]): Promise<number> {
  let status = 0;
  const program = createProgram(parts, () => {
    status = 1;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    const { message, exitCode, isPrinted } = explainFailure(error);
    const output = outputOf(program, parts);
    // With --json the parser prints nothing itself.
    if (exitCode !== 0 && (output.json || !isPrinted)) output.fail(message, exitCode);
    return exitCode;
  }
}

/**
 * The command line with all its commands.
 * @param fail sets the exit status to 1
 */
export function createProgram(parts: ProgramParts, fail: () => void): Command {
  const { version, loadConfig, loadClientSettings, environment, stdin, stdout, stderr } = parts;
  const { prompt, onInterrupt } = parts;
  const program = new Command('tallystick');
  program
    .description(
      `Operate a Tallystick service. Settings come from the environment and a file, as for the service itself.`,
    )
    .version(version)
    .option('--json', 'print JSON for programs instead of tables for people')
    .option('--settings <file>', `settings file; by default the one that ${settingsFileVariable} names`)
    .option('--local', 'use the local service that npm start made, instead of the environment')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', afterHelp)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => flagsOf(program).json === true || stderr.write(text),
    });
  const local = () => flagsOf(program).local === true;
  const session: Session = {
    client: () => loadClientSettings({ local: local() }),
    version,
    channel: () => ({ input: stdin, output: stdout }),
    config: async () => loadConfig({ local: local(), settings: flagsOf(program).settings }),
    settingsFile: () => flagsOf(program).settings ?? (environment[settingsFileVariable] || undefined),
    environment,
    local,
    output: () => outputOf(program, parts),
    fail,
    prompt,
    onInterrupt,
  };
  addInitCommand(program, session, (settings) =>
    examine({ ...session, config: async () => loadConfig({ local: false, settings }) }),
  );
  addCompanyCommands(program, session);
  addKeyCommands(program, session);
  addDoorCommands(program, session);
  addNetworkCommands(program, session);
  addIndexCommands(program, session);
  addRwaCommands(program, session);
  addContractCommands(program, session);
  addMintCommands(program, session);
  addNewsCommands(program, session);
  addRecoverCommand(program, session);
  addUsageCommand(program, session);
  addSecretKeyCommands(program, session);
  addAuditCommands(program, session);
  addMcpCommand(program, session);
  addMigrateCommand(program, session);
  addDoctorCommand(program, session);
  addStatusCommand(program, session);
  addKeystoreCommands(program, session);
  pointToHelp(program, 'tallystick');
  return program;
}

const flagsOf = (program: Command): { json?: true; local?: true; settings?: string } => program.opts();

const outputOf = (program: Command, { stdout, stderr }: ProgramParts) =>
  createOutput(flagsOf(program).json === true, { out: stdout, err: stderr });

// After a mistake, each command refers to its own help.
function pointToHelp(command: Command, path: string): void {
  command.showHelpAfterError(`See: ${path} --help`);
  for (const child of command.commands) pointToHelp(child, `${path} ${child.name()}`);
}
