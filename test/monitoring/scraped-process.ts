import type { FixedValues } from '../../src/config/fixed-values.ts';
import { settingsFor } from '../cli/command-line.ts';
import { until } from '../support/minting.ts';
import { startProcess } from '../support/process.ts';

const keptSeconds = 0.25;

/** A process of the service as callers and Prometheus meet it. */
export type ScrapedProcess = {
  readonly pid: number;
  /** Asks as a caller. @returns the status */
  ask(path: string, key: string): Promise<number>;
  /** What it shows to Prometheus. */
  scrape(): Promise<string>;
  /**
   * What it shows after a look since which its event loop was not kept: the alert on it fires only where that is so at no look for
   * minutes, while one stall, of a start or of a machine that others use, is what the first look after it shows.
   */
  settled(): Promise<string>;
  stop(): Promise<void>;
};

/** Starts a process of the service with its listener for operators. */
export async function startScraped(
  databaseUrl: string,
  settings: Readonly<Record<string, string>>,
  fixed: Partial<FixedValues> = {},
): Promise<ScrapedProcess> {
  const process = startProcess(['test/support/service-process.ts', JSON.stringify(fixed)], {
    ...settingsFor(databaseUrl),
    HOST: '127.0.0.1',
    PORT: '0',
    OPERATIONS_PORT: '0',
    DRAIN_SECONDS: '0',
    SHUTDOWN_SECONDS: '2',
    RPC_TIMEOUT_MS: '300',
    ...settings,
  });
  const [line] = await process.until(/^.*"msg":"service started".*$/m);
  const ports: { port: number; operationsPort: number } = JSON.parse(line);
  const baseUrl = `http://127.0.0.1:${ports.port}`;
  const scrape = async () => (await fetch(`http://127.0.0.1:${ports.operationsPort}/metrics`)).text();
  return {
    pid: process.child.pid ?? 0,
    ask: async (path, key) => {
      const answer = await fetch(`${baseUrl}${path}`, { headers: { 'x-api-key': key } });
      await answer.arrayBuffer();
      return answer.status;
    },
    scrape,
    async settled() {
      let text = '';
      await until('a look with no stall before it', async () => {
        text = await scrape();
        return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1]) <= keptSeconds;
      });
      return text;
    },
    async stop() {
      process.child.kill('SIGTERM');
      await process.ended;
    },
  };
}
