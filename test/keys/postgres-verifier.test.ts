import { createDatabase } from '../../src/db/connect.ts';
import { createCompanyStore } from '../../src/keys/company-store.ts';
import { generateKey } from '../../src/keys/key-format.ts';
import { createKeyStore } from '../../src/keys/key-store.ts';
import { createPostgresVerifier } from '../../src/keys/postgres-verifier.ts';
import { createLogger } from '../../src/log.ts';
import { describeKeyVerifier, type KeyService, waitMs } from '../suites/key-verifier.ts';
import { createTestDatabase } from '../support/database.ts';
import { startGate } from './tcp-gate.ts';

const log = createLogger({ level: 'silent' });

describeKeyVerifier('postgres', async (): Promise<KeyService> => {
  const { db, url, close } = await createTestDatabase();
  const gate = await startGate(url);
  const keys = createKeyStore({ db });
  const { id: companyId } = await createCompanyStore({ db }).create({ name: 'acme' });
  const good = generateKey('live');

  return {
    gate,
    async verifier({ cacheSeconds }) {
      const gated = gate.through(url);
      const own = createDatabase(gated, { poolMax: 3, log });
      const options = { db: own, url: gated, environment: 'live', cacheSeconds, cacheMax: 100, log };
      const verifier = await createPostgresVerifier({ ...options, timeoutMs: waitMs });
      return {
        verify: verifier.verify,
        async close() {
          await verifier.close();
          await own.destroy();
        },
      };
    },
    async issue({ company }) {
      const given = { companyId: company ? companyId : null, label: 'issued' };
      const { key, record } = await keys.create('live', given);
      return { key, id: record.id, companyId: record.companyId };
    },
    async revoke({ id }) {
      await keys.revoke(id);
    },
    async expire({ id }, inMs) {
      await keys.expire(id, new Date(Date.now() + inMs));
    },
    unknownKey: good,
    malformedKeys: [
      '',
      'x',
      'tk_live_',
      generateKey('test'),
      `${good.slice(0, -1)}~`,
      ` ${good}`,
      `${good}0`,
    ],
    async close() {
      await gate.close();
      await close();
    },
  };
});
