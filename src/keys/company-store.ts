import type { Knex } from 'knex';

const table = 'companies';

type Row = {
  id: string;
  name: string;
  treasury_address: string | null;
  claim_base_url: string | null;
  created_at: Date;
  updated_at: Date;
};

const columns: (keyof Row)[] = [
  'id',
  'name',
  'treasury_address',
  'claim_base_url',
  'created_at',
  'updated_at',
];

export type Company = {
  readonly id: string;
  readonly name: string;
  /** Where NFTs go that are minted without a recipient: `0x` and 40 hex digits. */
  readonly treasuryAddress: string | null;
  /** Claim page of the company's NFTs; null means the service's own. */
  readonly claimBaseUrl: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** What the operator sets; absent keeps (or defaults), null clears. */
type CompanyChanges = {
  readonly name?: string;
  readonly treasuryAddress?: string | null;
  readonly claimBaseUrl?: string | null;
};

const toCompany = (row: Row): Company => ({
  id: row.id,
  name: row.name,
  treasuryAddress: row.treasury_address,
  claimBaseUrl: row.claim_base_url,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

// Knex leaves out columns whose value is undefined.
const toColumns = (changes: CompanyChanges) => ({
  name: changes.name,
  treasury_address: changes.treasuryAddress,
  claim_base_url: changes.claimBaseUrl,
});

export type CompanyStore = ReturnType<typeof createCompanyStore>;

/** The companies that keys and RWAs belong to. */
export function createCompanyStore({ db }: { db: Knex }) {
  const companies = () => db(table);
  return {
    /**
     * @param company `id` when an authentication service of one's own already names it; else made here
     * @throws Error when the id or the name is taken
     */
    async create(
      company: CompanyChanges & { readonly name: string; readonly id?: string },
    ): Promise<Company> {
      const values = { ...toColumns(company), id: company.id };
      const rows: Row[] = await companies().insert(values, columns).catch(explainTaken);
      return toCompany(only(rows));
    },

    /** By id or, failing that, by name: for people. What a key resolves to is looked up by {@link findById}. */
    async find(idOrName: string): Promise<Company | undefined> {
      const row: Row | undefined = await companies()
        .select(columns)
        .where({ id: idOrName })
        .orWhere({ name: idOrName })
        .orderByRaw('id = ? DESC', [idOrName])
        .first();
      return row && toCompany(row);
    },

    async findById(id: string): Promise<Company | undefined> {
      const row: Row | undefined = await companies().select(columns).where({ id }).first();
      return row && toCompany(row);
    },

    /** All companies by name. */
    async list(): Promise<Company[]> {
      const rows: Row[] = await companies().select(columns).orderBy('name');
      return rows.map(toCompany);
    },

    /** The changed company, or undefined if there is none of that id. */
    async update(id: string, changes: CompanyChanges): Promise<Company | undefined> {
      const values = { ...toColumns(changes), updated_at: db.fn.now() };
      const [row]: Row[] = await companies().where({ id }).update(values, columns).catch(explainTaken);
      return row && toCompany(row);
    },
  };
}

function only(rows: Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error(`${table}: an insert returned no row`);
  return row;
}

// SQLSTATE 23505: unique_violation.
function explainTaken(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === '23505') {
    throw new Error('A company of this id or name exists already', { cause: error });
  }
  throw error;
}
