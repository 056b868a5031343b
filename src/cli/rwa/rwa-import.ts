import type { Command } from 'commander';
import { listNetworks } from '../../chain/network-store.ts';
import type { Database } from '../../contract/transaction.ts';
import { analyzeTables } from '../../db/schema/analyze.ts';
import { parseRwaInput, type RwaInput } from '../../rwa/assets/rwa-input.ts';
import { insertRwas } from '../../rwa/operators/rwa-import-store.ts';
import { audited } from '../shared/audited.ts';
import { OperationError } from '../shared/failure.ts';
import { findCompany } from '../shared/find.ts';
import type { Output } from '../shared/output.ts';
import { asOperator, interruptible, type Operator, type Session } from '../shared/session.ts';
import { type ImportRow, type Place, readRows } from './import-file.ts';
import { contractFaults, notExamined } from './rwa-contract.ts';

type Options = { company: string; check?: true; offline?: true };
type Fault = { readonly place: Place; readonly field: string; readonly message: string };
type Placed = { readonly place: Place; readonly input: RwaInput };
type Checked = {
  readonly rows: number;
  readonly inputs: readonly Placed[];
  readonly faults: readonly Fault[];
};

// The number of faults that a table shows; with --json all are listed.
const faultsShown = 50;

export function addImportCommand(rwa: Command, session: Session): void {
  rwa
    .command('import <file>')
    .description('Create RWAs from a .json or .csv file: A fault in one row rejects the whole file')
    .requiredOption('--company <company>', 'id or name of their company')
    .option('--check', 'only check the file')
    .option('--offline', 'do not ask the networks about the contracts')
    .addHelpText('after', help)
    .action((file: string, { company, check, offline }: Options) =>
      asOperator(session, async (operator) => {
        const { db, output } = operator;
        const { id: companyId } = await findCompany({ db }, company);
        const formal = checkRows(await readRows(file), await registeredIds(db));
        const checked = offline || formal.faults.length > 0 ? formal : await checkContracts(operator, formal);
        if (offline) output.say(notExamined);
        const { inputs, faults } = checked;
        if (faults.length > 0) {
          report(output, checked, []);
          throw new OperationError(`${faults.length} fault(s) in ${file}. Nothing was imported.`);
        }
        const ids = check
          ? []
          : await insertAll(session, operator, { companyId, inputs: inputs.map(inputOf) });
        if (ids.length > 0) await analyzeTables(db);
        report(output, checked, ids);
        if (check) output.say(`${file} is in order. Nothing was imported: leave out --check for that.`);
      }),
    );
}

const help = `
A JSON file contains one array of objects, a CSV a header and a line for each RWA (comma, semicolon or tab; UTF-8).
Fields, of which the first four are required:
  name, type, chainId, contractAddress, description, imageUrl, isBuyable, isClaimable (true or false), price
  (decimal, as text in JSON), currency, data (a JSON object), claimPage (true or false), claimBaseUrl
RWAs have no name that must be unique: importing a file twice makes everything twice.
Each contract is asked for on its network: where the service mints on it, it must be an NFT contract that lets a signer
mint; elsewhere it must exist. --offline leaves that out.

Examples:
  $ tallystick rwa import casks.csv --company acme --check
  $ tallystick rwa import casks.json --company acme

  name,type,chainId,contractAddress,isClaimable,price,currency
  Cask 17,whisky,31337,0x5FbDB2315678afecb367f032d93F642f64180aa3,true,1250.00,EUR`;

/** @param registered the chain ids of the registered networks */
function checkRows(rows: readonly ImportRow[], registered: ReadonlySet<string>): Checked {
  const inputs: Placed[] = [];
  const faults: Fault[] = [];
  for (const { place, raw, fault } of rows) {
    const parsed = fault === undefined ? parseRwaInput(raw) : atFault('', fault);
    const checked = parsed.ok && !registered.has(parsed.input.chainId) ? unregistered(parsed.input) : parsed;
    if (checked.ok) inputs.push({ place, input: checked.input });
    else faults.push(...checked.errors.map((error) => ({ place, ...error })));
  }
  return { rows: rows.length, inputs, faults };
}

const inputOf = ({ input }: Placed) => input;

/** Adds the rows whose contract cannot be minted on to the faults. @throws OperationError when no node answers */
async function checkContracts(operator: Operator, { rows, inputs, faults }: Checked): Promise<Checked> {
  const fault = await contractFaults(operator, inputs.map(inputOf));
  const found = inputs.flatMap(({ place, input }) => {
    const message = fault(input);
    return message === undefined ? [] : [{ place, field: 'contractAddress', message }];
  });
  const sound = inputs.filter(({ input }) => fault(input) === undefined);
  return { rows, inputs: sound, faults: [...faults, ...found] };
}

const atFault = (field: string, message: string) => ({ ok: false as const, errors: [{ field, message }] });
const unregistered = ({ chainId }: RwaInput) =>
  atFault('chainId', `${chainId} is not registered; see: tallystick network list`);

async function registeredIds(db: Database): Promise<ReadonlySet<string>> {
  const networks = await listNetworks(db);
  return new Set(networks.map(({ chainId }) => chainId));
}

async function insertAll(
  session: Session,
  { db, output }: Operator,
  { companyId, inputs }: { companyId: string; inputs: readonly RwaInput[] },
): Promise<string[]> {
  const progress = output.progress('Importing');
  const onProgress = progress.update;
  return interruptible(session, 'nothing was imported.', (signal) =>
    audited(
      db,
      (tx) => insertRwas(tx, inputs, { companyId, onProgress, signal }),
      (ids) => ({ action: 'rwa.import', companyId, subject: null, details: { count: ids.length } }),
    ),
  ).finally(progress.stop);
}

function report(output: Output, { rows, faults }: Checked, ids: readonly string[]): void {
  const imported = ids.length;
  if (output.json) {
    const errors = faults.map(({ place, field, message }) => ({ ...place, field, message }));
    output.record({ rows, imported, ids, errors });
  } else if (faults.length === 0) {
    output.record({ rows, imported });
  } else {
    const listed = faults.slice(0, faultsShown).map((fault) => ({ ...fault, at: inWords(fault.place) }));
    output.rows(listed, { at: 'ROW', field: 'FIELD', message: 'FAULT' });
    if (faults.length > faultsShown)
      output.say(`... and ${faults.length - faultsShown} more; all with --json.`);
  }
}

const inWords = (place: Place) => ('line' in place ? `line ${place.line}` : `[${place.index}]`);
