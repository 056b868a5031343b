import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { test as base, perFile } from '../support/fixtures.ts';
import { freePort } from '../support/postgres.ts';
import { endpointPath, startNewsWork, writeNews } from './news-world.ts';

const test = base.extend('serviceOptions', perFile, { settings: { WEBHOOK_HOSTS: '127.0.0.1' } });
const programs = new URL('../../openapi/portal/programs/', import.meta.url).pathname;

/** Starts a program of the guide. @returns the lines that it has written */
async function start(
  command: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<() => string[]> {
  const cwd = await mkdtemp(path.join(tmpdir(), 'tallystick-receiver-'));
  const child = spawn(command, [path.join(programs, file)], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
  });
  let written = '';
  child.stdout.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(cwd, { recursive: true, force: true });
  });
  return () => written.split('\n').filter((line) => line !== '');
}

test.for([
  [process.execPath, 'receive.ts'],
  ['python3', 'receive.py'],
  ['sh', 'receive.sh'],
] as const)(
  'the receiver of the guide gets everything once: %s %s',
  async ([command, file], { acme, databaseUrl, db, service }) => {
    const source = await readFile(path.join(programs, file), 'utf8');
    expect(source.trim().split('\n').length).toBeLessThanOrEqual(20);
    const port = await freePort();
    const { body } = await acme
      .post(endpointPath)
      .send({ url: `http://127.0.0.1:${port}/`, types: ['nft.minted'] })
      .expect(201);
    const lines = await start(command, file, {
      PORT: String(port),
      WEBHOOK_SECRET: body.secret,
      TALLYSTICK: service.baseUrl,
      TALLYSTICK_KEY: service.keys.acme,
    });
    const working = startNewsWork(databaseUrl);
    onTestFinished(async () => {
      await working.stop();
      await acme.delete(`${endpointPath}/${body.id}`);
    });
    const subjects = Array.from({ length: 20 }, () => randomUUID());
    await writeNews(db, service.companies.acme, subjects, 'nft.minted');
    const wanted = subjects.map((id) => `nft.minted /v1/api/nft/${id}`);
    const got = () => lines().filter((line) => wanted.includes(line));
    await expect.poll(() => got().length, { timeout: 30_000 }).toBe(20);
    expect(got().toSorted()).toEqual(wanted.toSorted());
  },
);
