import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { z } from 'zod';

const help = `Usage: npm run sbom [-- --out FILE]

Writes the software bill of materials of the lock file, in CycloneDX 1.5 by npm itself, to dist/tallystick.cdx.json, and
fails when it is not valid by the schema of CycloneDX or lacks a package. Development dependencies are marked as such.
`;

const component = z.object({
  name: z.string().min(1),
  version: z.string().min(1),
  purl: z.string().startsWith('pkg:npm/'),
  'bom-ref': z.string().min(1),
});
const bom = z.object({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.5'),
  serialNumber: z.string().regex(/^urn:uuid:/),
  metadata: z.object({ component: z.object({ name: z.string().min(1), version: z.string().min(1) }) }),
  components: z.array(component).min(1),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), name: z.string().optional() }).loose(),
  ),
});

/** The packages of the lock file, as `name@version`. */
async function lockedPackages(): Promise<string[]> {
  const { packages } = lock.parse(JSON.parse(await readFile('package-lock.json', 'utf8')));
  return Object.entries(packages).flatMap(([path, { name, version }]) =>
    path === '' ? [] : [`${name ?? path.replace(/^.*node_modules\//, '')}@${version}`],
  );
}

/** What is wrong with the bill by the schema of CycloneDX itself. */
async function schemaFaultsOf(text: string): Promise<string[]> {
  const found = await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text);
  return found === null ? [] : [`It is no CycloneDX 1.5: ${JSON.stringify(found).slice(0, 2_000)}`];
}

/** What the bill lacks of the lock file. */
function faultsOf(made: unknown, locked: readonly string[]): string[] {
  const parsed = bom.safeParse(made);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const { components, dependencies } = parsed.data;
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const refs = new Set([...components.map((each) => each['bom-ref']), ...dependencies.map(({ ref }) => ref)]);
  return [
    ...locked.filter((each) => !listed.has(each)).map((each) => `${each} is missing`),
    ...dependencies
      .flatMap(({ dependsOn }) => dependsOn.filter((ref) => !refs.has(ref)))
      .map((ref) => `${ref} is unknown`),
  ];
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
  const faults = [...(await schemaFaultsOf(text)), ...faultsOf(JSON.parse(text), locked)];
  if (faults.length > 0) {
    process.stderr.write(`The bill of materials is not complete:\n${faults.join('\n')}\n`);
    process.exitCode = 1;
  } else {
    await mkdir('dist', { recursive: true });
    await writeFile(values.out, text);
    process.stdout.write(`${values.out}: ${locked.length} packages, CycloneDX 1.5\n`);
  }
}
