import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../base/log.ts';

const script = fileURLToPath(new URL('../../scripts/docs.ts', import.meta.url));

/** Builds the portal where it is missing or not current. The service works without it, so a failure is only logged. */
export async function preparePortal(log: Logger): Promise<void> {
  const build = spawn(process.execPath, [script, '--quiet', '--if-installed'], {
    stdio: 'ignore',
    timeout: 60_000,
  });
  const [code] = await once(build, 'close').catch(() => [undefined]);
  if (code !== 0) log.warn('the portal was not built; see what is wrong with: npm run docs');
}
