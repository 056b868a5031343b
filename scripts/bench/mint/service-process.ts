import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { firstFreePort } from '../../../src/local/programs/ports.ts';
import { served } from '../start-service.ts';

export type ServiceProcess = {
  readonly port: number;
  stop(): Promise<void>;
};

/** Starts the service as it is started in production, and waits until it is ready. */
export async function startServiceProcess(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const port = await firstFreePort(23_000);
  const logFile = path.join(folder, `service-${port}-${settings['ROLES']}.log`);
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, served, {
    env: { PATH: process.env['PATH'], ...settings, HOST: '127.0.0.1', PORT: String(port) },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const exit = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const isApi = (settings['ROLES'] ?? 'api').includes('api');
  await untilReady(isApi ? port : undefined, () => child.exitCode, logFile);
  return {
    port,
    async stop() {
      child.kill('SIGTERM');
      await exit;
      process.off('exit', kill);
    },
  };
}

async function untilReady(port: number | undefined, exitCode: () => number | null, logFile: string) {
  const deadline = performance.now() + 20_000;
  const isReady = () =>
    port === undefined
      ? readFileSync(logFile, 'utf8').includes('service started')
      : fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
  while (!(await isReady())) {
    if (exitCode() !== null || performance.now() > deadline) {
      throw new Error(`The service did not start: ${readFileSync(logFile, 'utf8')}`);
    }
    await pause(50);
  }
}
