import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram, type ProgramParts } from '../../src/cli/program.ts';

/** Commands that change nothing and reveal no secret. */
const readers = [
  'audit list',
  'audit verify',
  'company list',
  'company show',
  'contract status',
  'doctor',
  'index status',
  'index verify',
  // These make files and keys that nothing has yet, and store nothing.
  'init',
  'keystore new',
  'key list',
  'key show',
  'usage',
  // It calls the service by an API key, and the service audits what that changes.
  'mcp',
  'mint list',
  'mint show',
  'mint verify',
  'network list',
  'news list',
  'news deliveries',
  'network show',
  'network status',
  'rwa list',
  'rwa show',
  // It makes a key that nothing has yet, and stores nothing.
  'secret-key new',
  'status',
];

/** The others, with the entries that they leave in the audit log. The next test wants one that shows each. */
const audited: Readonly<Record<string, readonly string[]>> = {
  'company create': ['company.create'],
  'company limit': ['company.limit'],
  'company update': ['company.update'],
  'contract deploy': [
    ...['contract.deploy_asked', 'contract.deploy'],
    ...['contract.set_base_uri_asked', 'contract.set_base_uri'],
  ],
  'contract grant': ['contract.grant_asked', 'contract.grant'],
  'contract refresh': ['contract.refresh_asked', 'contract.refresh'],
  'contract revoke': ['contract.revoke_asked', 'contract.revoke'],
  'contract set-base-uri': ['contract.set_base_uri_asked', 'contract.set_base_uri'],
  'index backfill': ['index.backfill'],
  'index reset': ['index.reset'],
  'index skip': ['index.skip'],
  'index tokens refresh': ['index.tokens_refresh'],
  'door link': ['key.create'],
  'key create': ['key.create'],
  'key expire': ['key.expire'],
  'key limit': ['key.limit'],
  'key revoke': ['key.revoke'],
  'key rotate': ['key.rotate'],
  'key scope': ['key.scope'],
  migrate: ['migrate'],
  'mint cancel': ['mint.cancel'],
  'mint fill-gap': ['mint.fill_gap'],
  'mint pause': ['mint.pause'],
  'mint release': ['mint.release'],
  'mint replace': ['mint.replace'],
  'mint resume': ['mint.resume'],
  'mint retry': ['mint.retry'],
  'network add': ['network.add'],
  'network remove': ['network.remove'],
  'network seal': ['network.seal'],
  'network update': ['network.update'],
  'news create': ['endpoint.create'],
  'news delete': ['endpoint.delete'],
  'news resend': ['endpoint.resend'],
  'news rotate-secret': ['endpoint.rotate'],
  'news test': ['endpoint.test'],
  'news update': ['endpoint.update'],
  recover: ['recover.begin', 'recover.apply'],
  'rwa archive': ['rwa.archive'],
  'rwa claim-page': ['rwa.claim_page'],
  'rwa create': ['rwa.create'],
  'rwa export': ['rwa.export'],
  'rwa import': ['rwa.import'],
  'rwa reissue-secret': ['rwa.reissue_secret'],
  'rwa rotate-secrets': ['rwa.rotate_secrets'],
  'rwa unarchive': ['rwa.unarchive'],
  'rwa update': ['rwa.update'],
};

const leaves = (command: Command, above = ''): string[] =>
  command.commands.length === 0
    ? [above]
    : command.commands.flatMap((child) => leaves(child, `${above} ${child.name()}`.trim()));

test('every command leaves entries in the audit log, or only reads', () => {
  // Nothing is run, so the other parts are not looked at.
  const program = createProgram({ version: '1' } as ProgramParts, () => {});
  expect([...readers, ...Object.keys(audited)].sort()).toEqual(leaves(program).sort());
});

test('each of these entries is seen by a test', async () => {
  const folders = ['test/cli', 'test/minting/faults'].map(async (folder) => {
    const names = (await readdir(folder)).filter((name) => !import.meta.filename.endsWith(name));
    return Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  });
  const text = (await Promise.all(folders)).flat().join();
  const actions = Object.values(audited).flat();
  expect(actions.filter((action) => !text.includes(`'${action}'`))).toEqual([]);
});
