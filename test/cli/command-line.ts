import { Readable, Writable } from 'node:stream';
import type { Knex } from 'knex';
import { runCommandLine } from '../../src/cli/program.ts';
import type { Finding } from '../../src/cli/shared/finding.ts';
import { readClientSettings } from '../../src/config/client-settings.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { FixedValues } from '../../src/config/fixed-values.ts';

export type Told = {
  readonly status: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
};

export type CommandLine = {
  /** Runs `tallystick` with these words, as people do. */
  run(...args: readonly string[]): Promise<Told>;
  /** The same with `--json`; `out` is read as the one value that it must be, `err` as one object a line. */
  json(...args: readonly string[]): Promise<Answer>;
};

type Answer = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at fields of any command's answer
  readonly value: any;
  readonly notes: readonly string[];
  readonly error: { readonly message: string; readonly exitCode: number } | undefined;
};

const secretKeys = `first:${Buffer.alloc(32, 1).toString('base64')}`;

export const settingsFor = (databaseUrl: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEYS: secretKeys,
  CURSOR_KEYS: `cursors:${Buffer.alloc(32, 2).toString('base64')}`,
  KEY_ENVIRONMENT: 'test',
  RPC_TIMEOUT_MS: '2000',
  CLAIM_BASE_URL: 'https://claim.example/c',
});

/** What the audit log tells of, each action once. */
export const auditedActions = (db: Knex): Promise<string[]> =>
  db('audit_log').distinct('action').orderBy('action').pluck('action');

type Surroundings = {
  /** Whether standard error is a terminal. */
  readonly terminal?: boolean;
  /** What the person answers to a question; undefined when there is nobody. */
  readonly answer?: string;
  /** Variables that are no settings of the service. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Of what is no setting either. */
  readonly fixed?: Partial<FixedValues>;
  /** Called with each piece on standard error and the way to press Ctrl-C. */
  readonly onTold?: (text: string, interrupt: () => void) => void;
};

/** The command line in this process, over these settings. */
export function commandLine(
  settings: Readonly<Record<string, string>>,
  { terminal = false, onTold = () => {}, answer, environment = {}, fixed = {} }: Surroundings = {},
): CommandLine {
  const run = async (...args: readonly string[]): Promise<Told> => {
    const listeners = new Set<() => void>();
    const interrupt = () => {
      for (const listener of listeners) listener();
    };
    const out = sink();
    const err = sink((text) => onTold(text, interrupt));
    const status = await runCommandLine(
      {
        version: '1.2.3',
        loadConfig: () => loadConfig(settings, fixed),
        loadClientSettings: () => readClientSettings(settings),
        stdin: Object.assign(Readable.from([]), { isTTY: answer !== undefined }),
        environment,
        prompt: async () => answer,
        stdout: out.stream,
        stderr: Object.assign(err.stream, { isTTY: terminal }),
        onInterrupt(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      args,
    );
    return { status, out: out.text(), err: err.text() };
  };
  return {
    run,
    async json(...args) {
      const { status, out, err } = await run(...args, '--json');
      const lines: { note?: string; error?: Answer['error'] }[] = err
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
      return {
        status,
        value: out === '' ? undefined : JSON.parse(out),
        notes: lines.flatMap(({ note }) => note ?? []),
        error: lines.find(({ error }) => error !== undefined)?.error,
      };
    },
  };
}

/** What `doctor` finds over these settings, by check. */
export async function runDoctor(settings: Readonly<Record<string, string>>, surroundings: Surroundings = {}) {
  const { status, value } = await commandLine(settings, surroundings).json('doctor');
  const findings: Finding[] = value;
  return { status, of: (check: string) => findings.filter((finding) => finding.check === check) };
}

function sink(onText: (text: string) => void = () => {}) {
  const pieces: string[] = [];
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece.toString());
      onText(piece.toString());
      done();
    },
  });
  return { stream, text: () => pieces.join('') };
}
