import { createLogger } from '../../src/base/log.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createTestIndex } from './index-fixture.ts';

// A process that indexes until it is killed: node follower-process.ts <node> <database> <chain id> <first block>
const [nodeUrl = '', databaseUrl = '', chainId = '', startBlock = '0'] = process.argv.slice(2);
const log = createLogger({ level: 'silent' });
const db = createDatabase(databaseUrl, { poolMax: 2, log });
const database = { db, url: databaseUrl, close: () => db.destroy() };
const index = createTestIndex(database, nodeUrl, {
  chainId,
  startBlock: BigInt(startBlock),
  traceMethod: 'debug',
  maxBatch: 1,
});
await index.follow();
process.stdout.write('done\n');
index.close();
await database.close();
