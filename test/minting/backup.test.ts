import { expect } from 'vitest';
import { addRwa } from '../rwa/samples.ts';
import { backUp, restoreBackup } from '../support/backup.ts';
import { test } from '../support/fixtures.ts';

test('a restored database says what it said when it was backed up, and takes new rows', async ({
  service,
  acme,
  db,
}) => {
  expect(await restoreBackup(db)).toBe(false);
  const rwa = await addRwa(db, service.companies.acme, { isClaimable: true });
  const accept = () => acme.post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
  const rows = () => db('nfts').orderBy('serial').select('id', 'serial', 'mint_state');
  await accept();
  const before = await rows();
  await backUp(db);
  await accept();
  await accept();
  expect(await restoreBackup(db)).toBe(true);
  expect(await rows()).toEqual(before);
  // Serials are given again: that is what a restored database does by itself.
  await accept();
  expect((await rows()).map(({ serial }) => Number(serial))).toEqual([1, 2]);
});
