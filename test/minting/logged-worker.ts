import { Writable } from 'node:stream';
import { createLogger } from '../../src/base/log.ts';
import type { Config } from '../../src/config/config.ts';
import { startService } from '../../src/service/service.ts';
import type { MintSetup } from './mint-setup.ts';

type Line = Readonly<Record<string, unknown>> & { readonly msg: string };

type Options = {
  readonly roles?: Config['ROLES'];
  /** Private keys; all of the chain's by default. */
  readonly keys?: readonly string[];
  readonly feeCapGwei?: number;
};

/** A worker in this process whose log can be read, and that operators can ask. */
export async function startLoggedWorker(setup: MintSetup, options: Options = {}) {
  const { roles = ['worker'], keys = setup.chain.keys, feeCapGwei = 500 } = options;
  const written: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      written.push(...String(chunk).trimEnd().split('\n'));
      done();
    },
  });
  const config = {
    ...setup.service.parts.config,
    ROLES: roles,
    PORT: 0,
    OPERATIONS_PORT: 0,
    MINT_MAX_FEE_GWEI: feeCapGwei,
    MINT_STUCK_BLOCKS: 2,
  };
  const plainSigners = keys.map((privateKey) => ({ chainId: setup.chain.chainId, privateKey }));
  const service = await startService(config, createLogger({ level: 'info', destination }), { plainSigners });
  const ask = (path: string) => fetch(`http://127.0.0.1:${service.operationsPort}${path}`);
  return {
    /** The whole log. */
    log: () => written.join('\n'),
    /** The answer to operators. */
    ask,
    /** The answer to callers. */
    call: (path: string) => fetch(`http://127.0.0.1:${service.port}${path}`),
    /** The lines of the log with this message. */
    said: (msg: string) => written.map((line): Line => JSON.parse(line)).filter((line) => line.msg === msg),
    /** The value of a metric of minting, by the start of its name and labels. */
    async metric(head: string): Promise<number | undefined> {
      const text = await (await ask('/metrics')).text();
      const line = text.split('\n').find((each) => each.startsWith(`tallystick_mint_${head}`));
      return line === undefined ? undefined : Number(line.split(' ').at(-1));
    },
    stop: () => service.stop(),
  };
}

export type LoggedWorker = Awaited<ReturnType<typeof startLoggedWorker>>;
