import type { Knex } from 'knex';

/** An open transaction. Everything that must commit together gets the same one. */
export type Tx = Knex.Transaction;

/** The database outside a transaction: its pool of connections. */
export type Database = Knex;
