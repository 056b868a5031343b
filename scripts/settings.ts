import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { settings } from '../src/config/config.ts';

const help = `Usage: node scripts/settings.ts [--check]

Writes the table of settings in docs/operate/configuration.md from their schema in src/config/.
  --check  change nothing, fail when the table is not current
`;

const page = 'docs/operate/configuration.md';
const begin = '<!-- settings: made by scripts/settings.ts -->';
const end = '<!-- /settings -->';

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

function table(): string {
  const rows = Object.entries<Setting>(settings).map(
    ([name, setting]) => `| \`${name}\` | ${defaultOf(setting)} | ${setting.about} |`,
  );
  return ['| Setting | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) {
  process.stdout.write(help);
} else {
  const old = await readFile(page, 'utf8');
  const [before, , after] = old.split(new RegExp(`${begin}|${end}`));
  const current = `${before}${begin}\n${table()}\n${end}${after}`;
  if (current !== old && values.check) {
    process.stderr.write(
      'The table of settings in docs/operate/configuration.md is not current. Remedy: node scripts/settings.ts\n',
    );
    process.exitCode = 1;
  } else if (current !== old) {
    await writeFile(page, current);
  }
}
