import { expect } from 'vitest';
import type { CompanyContext } from '../../../src/contract/operation.ts';
import { TextStream } from '../../../src/contract/text-stream.ts';
import { createOwnershipHandlers } from '../../../src/rwa/handlers/ownership-handlers.ts';
import { createSnapshotHandlers } from '../../../src/rwa/handlers/snapshot-handlers.ts';
import type { TestService } from '../../support/service.ts';
import { follow, issue, test } from './ownership-setup.ts';

const holders = 12_000;
// Their wallets and tokens take more memory, however they are kept.
const bytesOfAll = holders * 200;

/** What the handler of a file goes by. */
const contextOf = ({ companies }: TestService) =>
  ({ companyId: companies.acme, preferred: ([, type]: string[]) => type }) as unknown as CompanyContext;
const depsOf = ({ parts: { db, networks, clients } }: TestService) => ({
  db,
  networks,
  clients,
  mostHolders: 1_000_000,
});

const wallets = Array.from({ length: holders }, (_, n) => `0x${String(n + 1).padStart(40, '0')}`);

/** Checks that a file is kept in part, and that the service sends all of it. */
async function expectFile(service: TestService, path: string, body: unknown) {
  if (!(body instanceof TextStream)) throw new Error('no file');
  expect(body.heldBytes).toBeLessThan(bytesOfAll);
  const { text } = await service.as(service.keys.acme).get(path).set('accept', 'text/csv').expect(200);
  const lines = text.trim().split('\r\n').slice(1);
  expect(lines.map((line) => line.split(',').slice(0, 2))).toEqual(wallets.map((wallet) => [wallet, '1']));
}

test('the file of a snapshot is read in batches, without proofs', async ({ service, tokens }) => {
  const { rwa } = await issue(service, tokens.contract, 1);
  const { companies, db } = service;
  const [{ id }] = await db('ownership_snapshots')
    .insert({ company_id: companies.acme, rwa_id: rwa.id, block_number: '1' })
    .returning('id');
  await db.raw(
    `INSERT INTO snapshot_holders (snapshot_id, wallet, token_ids, proof)
     SELECT ?, '0x' || lpad(n::text, 40, '0'), ARRAY[n], array_fill('0x'::text, ARRAY[17]) FROM generate_series(1, ?::int) n`,
    [id, holders],
  );
  const taken = { block_hash: '0x', block_time: new Date(), token_count: holders, holder_count: holders };
  await db('ownership_snapshots')
    .where({ id })
    .update({ ...taken, taken_at: new Date() });
  const { getSnapshot } = createSnapshotHandlers(depsOf(service));
  const { body } = await getSnapshot({ path: { id } } as never, contextOf(service));
  await expectFile(service, `/v1/api/snapshot/${id}`, body);
});

test('the file of the holders is read in batches', async ({ service, tokens }) => {
  const { rwa } = await issue(service, tokens.contract, 1);
  await follow(service);
  await service.db.raw(
    `INSERT INTO nft_transfers (chain_id, contract, token_id, block_number, log_index, from_address, to_address, block_hash,
       block_time, transaction_hash)
     SELECT l.chain_id, l.contract, r.number::numeric * 18446744073709551616 + n, l.number, n, '0x0000000000000000000000000000000000000000',
       '0x' || lpad(n::text, 40, '0'), l.hash, l.time, '0x'
     FROM rwas r JOIN nft_ledgers l ON l.contract = r.contract_address, generate_series(1, ?::int) n WHERE r.id = ?`,
    [holders, rwa.id],
  );
  const { listRwaHolders } = createOwnershipHandlers(depsOf(service));
  const input = { path: { id: rwa.id }, query: {} } as never;
  const { body } = await listRwaHolders(input, contextOf(service));
  await expectFile(service, `/v1/api/rwa/${rwa.id}/holders`, body);
});
