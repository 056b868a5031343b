/*
 * What the database users of each role may do, table by table. `tallystick migrate` grants it, and a test checks that
 * no table is forgotten.
 */

/** Kinds of processes with a user of their own. */
export const databaseRoles = ['api', 'worker', 'indexer', 'operator'] as const;

export type DatabaseRole = (typeof databaseRoles)[number];

/** The group that the users of a role belong to. */
export const groupOf = (role: DatabaseRole): string => `tallystick_${role}`;

type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
/** Of the roles that serve. Operators may write every table except `appendOnly`. */
type TableRights = Partial<Record<Exclude<DatabaseRole, 'operator'>, readonly Privilege[]>>;

const read = ['SELECT'] as const;
const add = ['SELECT', 'INSERT'] as const;
const keep = ['SELECT', 'INSERT', 'UPDATE'] as const;
// To delete a row that nobody else has taken, it is locked first, which UPDATE allows.
const purge = ['SELECT', 'UPDATE', 'DELETE'] as const;
const write = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;

const forAll = (privileges: readonly Privilege[]): TableRights => ({
  api: privileges,
  worker: privileges,
  indexer: privileges,
});
const index: TableRights = { api: read, indexer: write };
const mintPlan: TableRights = { api: read, worker: write };
const mintOnly: TableRights = { worker: write };

export const tableRights: Readonly<Record<string, TableRights>> = {
  schema_history: forAll(read),
  schema_history_lock: {},
  schema_range: forAll(read),
  networks: forAll(read),
  node_states: forAll(write),
  deployment: { api: read, worker: read },
  leases: forAll(write),
  replica_heartbeats: { api: write },
  processes: forAll(write),

  companies: { api: read, worker: read },
  // The minute of the last use: see `columnUpdates`.
  api_keys: { api: ['SELECT', 'UPDATE'] },
  usage_minutes: { api: keep, worker: purge },
  rate_limits: { api: write, worker: purge },
  idempotency_records: { api: write, worker: purge },
  // With entries, by columns: see `columnInserts`.
  audit_log: { api: read, worker: read },
  audit_chain: { worker: add },

  events: { api: write },
  attendees: { api: write },
  attendee_tokens: { api: write },
  event_challenges: { api: write, worker: purge },
  checkin_scans: { api: write },
  // A trigger adds them.
  revoked_tickets: { api: read },
  // A trigger adds them, and a function that workers call deletes them.
  deleted_events: {},

  // Triggers add them, and a request for a test message.
  news: { api: add, worker: write },
  news_feeds: { api: read, worker: keep },
  // A worker never says where news go: see `columnUpdates`.
  news_endpoints: { api: write, worker: ['SELECT', 'UPDATE'] },
  news_deliveries: { api: write, worker: write },

  rwas: { api: keep, worker: ['SELECT', 'UPDATE'] },
  nfts: { api: keep, worker: ['SELECT', 'UPDATE'] },
  wrong_secrets: { api: keep, worker: purge },
  // As the release before counted wrong secrets.
  secret_attempts: { api: write, worker: purge },
  company_limits: { api: read },
  company_mint_days: { api: keep },
  company_gas_budgets: { api: read, worker: read },
  company_gas_days: { api: read, worker: keep },

  mint_lanes: mintPlan,
  mint_notes: mintPlan,
  mint_transactions: mintPlan,
  mint_transaction_nfts: mintPlan,
  contract_verdicts: mintPlan,
  mint_attempts: mintOnly,
  mint_contracts: mintPlan,
  mint_disagreements: mintOnly,
  mint_recoveries: mintOnly,
  mint_refusals: mintOnly,
  network_finality: { api: read, worker: write },
  nft_ledgers: mintPlan,
  nft_transfers: mintPlan,
  // Workers delete the holders of a snapshot that was deleted; a trigger keeps all others.
  ownership_snapshots: { api: ['SELECT', 'INSERT', 'DELETE'], worker: ['SELECT', 'UPDATE'] },
  snapshot_holders: { api: read, worker: ['SELECT', 'INSERT', 'DELETE'] },
  mint_unproven_transactions: mintOnly,

  approval_changes: index,
  block_credits: index,
  history_facets: index,
  native_sums: index,
  transfer_checks: index,
  wallet_approvals: index,
  index_blocks: index,
  index_skipped_blocks: index,
  index_skipped_logs: index,
  // Readiness of any process may depend on how far the index is.
  index_state: { api: read, worker: read, indexer: write },
  index_errors: { api: read, worker: read, indexer: write },
  nft_changes: index,
  nft_holdings: index,
  nft_refreshes: index,
  nft_tokens: index,
  token_contracts: index,
  wallet_history: index,
};

/** Tables that nobody may change or delete rows of. */
export const appendOnly: ReadonlySet<string> = new Set(['audit_log', 'audit_chain']);

type ColumnInserts = { readonly roles: readonly DatabaseRole[]; readonly columns: readonly string[] };

/** Tables that roles add rows to, but not whole rows: number, time and user of an audit entry are the database's to say. */
export const columnInserts: Readonly<Record<string, ColumnInserts>> = {
  audit_log: {
    roles: ['api', 'worker', 'operator'],
    columns: [
      ...['actor_kind', 'actor', 'origin', 'company_id', 'action', 'subject'],
      ...['request_id', 'details'],
    ],
  },
};

type ColumnUpdates = Partial<Record<Exclude<DatabaseRole, 'operator'>, readonly string[]>>;

/** The columns that roles that serve may update, of tables of which they may not update the others. */
export const columnUpdates: Readonly<Record<string, ColumnUpdates>> = {
  api_keys: { api: ['last_used_at'] },
  news_endpoints: { worker: ['position', 'disabled_reason', 'failing_since', 'paused_until'] },
  // A trigger leaves the api one change of `mint_state`: it queues. The worker never changes who gets an NFT.
  nfts: {
    api: [
      ...['mint_state', 'recipient', 'mint_error', 'mint_chain_id', 'mint_contract', 'queued_at'],
      ...['data', 'attributes', 'image_url'],
    ],
    worker: [
      ...['mint_state', 'mint_error', 'minted_at', 'minted_tx', 'minted_block'],
      ...['owner', 'owner_block', 'owner_at', 'owner_tx'],
    ],
  },
  rwas: {
    api: [
      ...[
        'last_serial',
        'total_nfts',
        'name',
        'description',
        'type',
        'image_url',
        'chain_id',
        'contract_address',
      ],
      ...[
        'is_buyable',
        'is_claimable',
        'price',
        'currency',
        'data',
        'claim_page',
        'claim_base_url',
        'archived_at',
        // By a trigger of `nfts`.
        'metadata_changed_at',
      ],
    ],
    worker: ['claimed_nfts', 'metadata_changed_at'],
  },
};

/** Returns which of the columns of a table users of a role may update. A row never goes to another company. */
export function updatable(table: string, role: DatabaseRole, columns: readonly string[]): readonly string[] {
  if (!privilegesOn(table, role).includes('UPDATE')) return [];
  if (role === 'operator') return columns;
  const allowed = columnUpdates[table]?.[role] ?? columns;
  return columns.filter((column) => allowed.includes(column) && column !== 'company_id');
}

/** What the users of a role may do with a table; with UPDATE those columns that `updatable` names. */
export function privilegesOn(table: string, role: DatabaseRole): readonly Privilege[] {
  if (role === 'operator' && table in columnInserts) return read;
  if (role === 'operator') return appendOnly.has(table) ? add : write;
  return tableRights[table]?.[role] ?? [];
}

/** Functions that do what a role may not do by itself, and the roles that may call them. */
export const functionCallers: Readonly<Record<string, readonly DatabaseRole[]>> = {
  'purge_attendees(integer)': ['worker', 'operator'],
  'unclaim_ended_nfts(uuid, uuid[])': ['worker', 'operator'],
  'take_back_tokens(uuid[])': ['worker', 'operator'],
};

/** What the users of a role may do with all tables of the job queue. */
export const queuePrivileges: Readonly<Partial<Record<DatabaseRole, readonly Privilege[]>>> = {
  api: add,
  worker: write,
  operator: write,
};
