import type { Knex } from 'knex';

/** An open transaction. All statements that must commit together get the same transaction. */
export type Tx = Knex.Transaction;

/** The database outside a transaction: its pool of connections. */
export type Database = Knex;
