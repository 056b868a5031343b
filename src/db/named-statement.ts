import { type ClientBase, Query, types } from 'pg';

// Of the driver; its types leave out what a query does at each message of the server.
type Connection = { describe(what: object): void };
type Message<Field> = { readonly fields: readonly Field[] };
type Column = { readonly name: string; readonly dataTypeID: number };
type DriverQuery = {
  name: string;
  values: unknown[];
  readonly text: string;
  readonly _result: { readonly rows: object[] };
  _canceledDueToError: unknown;
  prepare(connection: Connection): void;
};
const DriverStatement = Query as unknown as new (text: string) => DriverQuery;

type Shape = {
  readonly columns: readonly { readonly name: string; readonly parse: (text: string) => unknown }[];
  /** A row without values, which the engine copies at once. */
  readonly empty: Readonly<Record<string, unknown>>;
};

/** What is known of the statements of a connection, which the server forgets with it. */
type Known = {
  readonly shapes: Map<string, Shape>;
  /** The connection, but nothing is asked about results. */
  readonly withoutDescribe: Connection;
};
const knownOf = new WeakMap<Connection, Known>();

/**
 * A statement that the server keeps under its name. The driver asks for the columns of its result each time, and makes
 * what it needs of them each time; here that is done once on each connection. A result can't change its columns: the server
 * refuses the statement then.
 */
export class NamedStatement extends DriverStatement {
  #known: Known | undefined;
  #shape: Shape | undefined;

  constructor(name: string, text: string, values: readonly unknown[]) {
    super(text);
    this.name = name;
    this.values = [...values];
  }

  override prepare(connection: Connection): void {
    this.#known = known(connection);
    this.#shape = this.#known.shapes.get(this.name);
    super.prepare(this.#shape === undefined ? connection : this.#known.withoutDescribe);
  }

  handleRowDescription({ fields }: Message<Column>): void {
    this.#shape = shapeOf(fields);
    this.#known?.shapes.set(this.name, this.#shape);
  }

  handleDataRow({ fields }: Message<string | null>): void {
    if (this.#shape === undefined) throw new Error(`rows of ${this.name} came without their columns`);
    const { columns, empty } = this.#shape;
    const row = { ...empty };
    try {
      for (const [index, { name, parse }] of columns.entries()) {
        const text = fields[index] ?? null;
        if (text !== null) row[name] = parse(text);
      }
    } catch (error) {
      // What the driver rejects with at the end.
      this._canceledDueToError ||= error;
    }
    this._result.rows.push(row);
  }
}

function known(connection: Connection): Known {
  const found = knownOf.get(connection);
  if (found !== undefined) return found;
  const withoutDescribe: Connection = Object.create(connection, { describe: { value: () => {} } });
  const made = { shapes: new Map<string, Shape>(), withoutDescribe };
  knownOf.set(connection, made);
  return made;
}

function shapeOf(fields: readonly Column[]): Shape {
  const columns = fields.map(({ name, dataTypeID }) => ({
    name,
    parse: types.getTypeParser(dataTypeID, 'text'),
  }));
  // Objects that are read from JSON have their fields in one block; those that are filled by names become hash tables.
  return {
    columns,
    empty: JSON.parse(JSON.stringify(Object.fromEntries(fields.map(({ name }) => [name, null])))),
  };
}

type Result<Row> = { readonly rows: Row[]; readonly rowCount: number | null };
type Asked<Row> = (
  statement: NamedStatement,
  done: (error: Error | null, result: Result<Row>) => void,
) => unknown;

/** Runs it, on a connection of the driver. */
export function runNamed<Row extends object>(
  connection: ClientBase,
  statement: NamedStatement,
): Promise<Result<Row>> {
  const query = connection.query.bind(connection) as unknown as Asked<Row>; // as of any query of the driver's own class
  return new Promise((resolve, reject) => {
    query(statement, (error, result) => (error ? reject(error) : resolve(result)));
  });
}
