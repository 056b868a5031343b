import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createChainRpc } from '../../src/local/programs/chain-rpc.ts';
import { removePostgresPlace } from '../../src/local/programs/postgres-place.ts';
import { startProcess } from '../support/process.ts';

const entry = path.resolve(import.meta.dirname, '../../src/main.ts');

type Made = {
  readonly baseUrl: string;
  readonly rpcUrl: string;
  readonly keys: { readonly acme: string };
  readonly wallets: readonly string[];
};

test('a second start still has the traces of every block, also of those right before the stop', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-restart-'));
  onTestFinished(async () => {
    removePostgresPlace(path.join(folder, '.local/postgres'));
    await rm(folder, { recursive: true, force: true });
  });
  const start = async () => {
    const service = startProcess([entry, '--local'], { PORT: '0' }, { cwd: folder });
    await service.until(/Ctrl-C stops it/, 240_000);
    const made: Made = JSON.parse(await readFile(path.join(folder, '.local/credentials.json'), 'utf8'));
    const stop = () => {
      service.child.kill('SIGINT');
      return service.ended;
    };
    return { made, stop };
  };
  const first = await start();
  const rpc = createChainRpc(first.made.rpcUrl);
  const [from] = (await rpc.call('eth_accounts')) as string[];
  for (let sent = 0; sent < 20; sent += 1)
    await rpc.call('eth_sendTransaction', { from, to: first.made.wallets[0], value: '0x1' });
  expect(await first.stop()).toBe(0);

  const { made, stop } = await start();
  const query = `chainId=31337&address=${made.wallets[0]}&limit=1`;
  const answer = await fetch(`${made.baseUrl}/blockchain/v1/api/wallet/history?${query}`, {
    headers: { 'x-api-key': made.keys.acme },
  });
  expect(await answer.json()).toMatchObject({ history: { coverage: { traces: 'all' } } });
  expect(await stop()).toBe(0);
});
