import type { Database } from '../../src/contract/transaction.ts';

/** Lets the index of the local chain have all blocks up to 9, or be what the changes say. */
export async function insertIndexHead(db: Database, changes: object = {}): Promise<void> {
  await db('index_state').insert({
    chain_id: '31337',
    start_block: 0,
    head_number: 9,
    head_hash: Buffer.alloc(32, 7),
    head_time: new Date(),
    ...changes,
  });
}
