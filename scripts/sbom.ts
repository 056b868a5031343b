import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';

const help = `Usage: npm run sbom [-- --out FILE]

Writes the software bill of materials of the lock file, in CycloneDX 1.5 by npm itself, to dist/tallystick.cdx.json, and
fails when it is not valid by the schema of CycloneDX or lacks a package. Development dependencies are marked as such.
`;

type Package = { readonly name?: string; readonly version?: string };

/** The packages of the lock file, as `name@version`. */
async function lockedPackages(): Promise<string[]> {
  const lock: { packages: Record<string, Package> } = JSON.parse(await readFile('package-lock.json', 'utf8'));
  return Object.entries(lock.packages).flatMap(([path, { name, version }]) =>
    path === '' ? [] : [`${name ?? path.replace(/^.*node_modules\//, '')}@${version}`],
  );
}

/** Returns the faults of the bill by the schema of CycloneDX, and the packages of the lock file that it lacks. */
async function faultsOf(text: string, locked: readonly string[]): Promise<string[]> {
  const found = await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text);
  if (found !== null) return [`It is no CycloneDX 1.5: ${JSON.stringify(found).slice(0, 2_000)}`];
  const { components }: { components: readonly Package[] } = JSON.parse(text);
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  return locked.filter((each) => !listed.has(each)).map((each) => `${each} is missing`);
}

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/tallystick.cdx.json' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  process.stdout.write(help);
} else {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const text = execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 100_000_000, timeout: 120_000 });
  const locked = await lockedPackages();
  const faults = await faultsOf(text, locked);
  if (faults.length > 0) {
    process.stderr.write(`The bill of materials is not complete:\n${faults.join('\n')}\n`);
    process.exitCode = 1;
  } else {
    await mkdir('dist', { recursive: true });
    await writeFile(values.out, text);
    process.stdout.write(`${values.out}: ${locked.length} packages, CycloneDX 1.5\n`);
  }
}
