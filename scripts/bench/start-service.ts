import { type ChildProcess, spawn } from 'node:child_process';
import packageFile from '../../package.json' with { type: 'json' };
import { killAtExit } from '../../test/support/kill-at-exit.ts';

/** The key that signs cursors and encrypts secrets of a service under measurement. */
export const benchKey = Buffer.alloc(32, 1);

export type BenchService = { readonly pid: number; stop(): Promise<void> };

type ServiceOptions = {
  readonly env: Readonly<Record<string, string>>;
  /** Each line of its log, and the warnings among them. */
  readonly onLog: (line: string) => void;
  readonly say: (line: string) => void;
};

/** What `npm run serve` runs, without `exec` and the name of Node: what is measured is what is operated. */
export const [, , ...served] = packageFile.scripts.serve.split(' ');

/** Starts the service as a process of its own. Node's flags are handed on, so that --cpu-prof tells of it too. */
export function startBenchService({ env, onLog, say }: ServiceOptions): BenchService {
  const key = `bench:${benchKey.toString('base64')}`;
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, ...served], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', SECRET_KEYS: key, CURSOR_KEYS: key, ...env },
  });
  killAtExit(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) {
      if (/"level":"(?:warn|error|fatal)"/.test(line)) say(line);
      onLog(line);
    }
  });
  child.once('exit', (code) => {
    if (code !== 0 && code !== null) say(`the service ended with ${code}`);
  });
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
