import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Command } from 'commander';
import { createProgram, type ProgramParts } from '../src/cli/program.ts';
import { settings } from '../src/config/config.ts';
import {
  columnInserts,
  columnUpdates,
  type DatabaseRole,
  databaseRoles,
  privilegesOn,
  tableRights,
} from '../src/db/schema/role-rights.ts';
import { mintReasons, needsHelp } from '../src/rwa/minting/mint-reason.ts';

const help = `Usage: node scripts/settings.ts [--check]

Writes the tables that pages of docs/operate/ take from the code: settings, commands, rights in the database, and notes
and reasons of mints.
  --check  change nothing, fail when a table is not current
`;

type Setting = {
  readonly schema: { safeParse(value: unknown): { success: boolean; data?: unknown } };
  readonly about: string;
};

function defaultOf({ schema }: Setting): string {
  const parsed = schema.safeParse(undefined);
  if (!parsed.success) return 'required';
  if (parsed.data === undefined) return '';
  return `\`${Array.isArray(parsed.data) ? parsed.data.join(',') : String(parsed.data)}\``;
}

function settingRows(): string[][] {
  return Object.entries<Setting>(settings).map(([name, setting]) => [
    `\`${name}\``,
    defaultOf(setting),
    setting.about,
  ]);
}

/** The commands that do something, each with its arguments and the first sentence of its help. */
function commandRows(command: Command, path: string): string[][] {
  if (command.commands.length > 0)
    return command.commands.flatMap((child) => commandRows(child, `${path} ${child.name()}`));
  const names = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '...' : '');
    return argument.required ? ` <${name}>` : ` [${name}]`;
  });
  const [sentence = ''] = command.description().split(/(?<=[.;]) /);
  return [[`\`${path}${names.join('')}\``, sentence.replace(/[.;]$/, '')]];
}

/** The command line, of which only the help is read. */
function program(): Command {
  const { stdin, stdout } = process;
  const never = () => {
    throw new Error('no command runs here');
  };
  const asks = { loadClientSettings: never, loadConfig: never, onInterrupt: never };
  const parts = { ...asks, version: '', environment: {}, stdin, stdout } as unknown as ProgramParts;
  return createProgram(parts, never);
}

const verbs = { SELECT: 'read', INSERT: 'add', UPDATE: 'change', DELETE: 'delete' };

function rightsOf(table: string, role: DatabaseRole): string {
  const columns = role === 'operator' ? undefined : columnUpdates[table]?.[role];
  const rights = privilegesOn(table, role).map((privilege) =>
    privilege === 'UPDATE' && columns !== undefined
      ? `change ${columns.map((column) => `\`${column}\``).join(', ')}`
      : verbs[privilege],
  );
  if (columnInserts[table]?.roles.includes(role) === true) rights.push('add without number, time and user');
  return rights.join(', ');
}

/** Tables with the same rights share a row. */
function rightRows(): string[][] {
  const tables = Object.keys(tableRights);
  const rows = Map.groupBy(tables, (table) =>
    JSON.stringify(databaseRoles.map((role) => rightsOf(table, role))),
  );
  return [...rows].map(([rights, names]) => [
    names.map((name) => `\`${name}\``).join(', '),
    ...(JSON.parse(rights) as string[]),
  ]);
}

const parts = [
  { page: 'configuration', name: 'settings', head: ['Setting', 'Default', 'Meaning'], rows: settingRows() },
  {
    page: 'commands',
    name: 'commands',
    head: ['Command', 'What it does'],
    rows: commandRows(program(), 'tallystick'),
  },
  { page: 'database', name: 'rights', head: ['Tables', ...databaseRoles], rows: rightRows() },
  {
    page: 'stuck-mints',
    name: 'notes',
    head: ['Reason', '`mintNote`'],
    rows: Object.entries(mintReasons).map(([reason, { note }]) => [`\`${reason}\``, note]),
  },
  {
    page: 'metrics',
    name: 'normal reasons',
    head: ['Reason that leaves workers ready', 'Remedy'],
    rows: Object.entries(mintReasons).flatMap(([reason, { remedy }]) =>
      needsHelp(reason) ? [] : [[`\`${reason}\``, remedy.replaceAll('<', '&lt;')]],
    ),
  },
];

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) {
  process.stdout.write(help);
} else {
  for (const { page, name, head, rows } of parts) {
    const file = `docs/operate/${page}.md`;
    const [begin, end] = [`<!-- ${name}: made by scripts/settings.ts -->`, `<!-- /${name} -->`];
    const old = await readFile(file, 'utf8');
    const [before, , after] = old.split(new RegExp(`${begin}|${end}`));
    const lines = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
    const table = [lines[0], `|${head.map(() => '---').join('|')}|`, ...lines.slice(1)];
    const current = `${before}${begin}\n${table.join('\n')}\n${end}${after}`;
    if (current !== old && values.check) {
      process.stderr.write(`The table in ${file} is not current. Remedy: node scripts/settings.ts\n`);
      process.exitCode = 1;
    } else if (current !== old) {
      await writeFile(file, current);
    }
  }
}
