import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

const lockFiles = ['package-lock.json', 'test/sdk/package-lock.json', 'test/deploy/package-lock.json'];

const help = `Usage: node scripts/lock.ts [--check]

Completes ${lockFiles.join(', ')}. A registry that mirrors only some platforms makes npm leave the packages of the
others out of the lock file, and npm ci then rejects it. They are entered by name, version and platform.
  --check  change nothing, fail when something is missing, a download address is named, a package has no integrity, or
           what production installs runs a script when it is installed
`;

type Entry = {
  version?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  resolved?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
};
type Lock = { packages: Record<string, Entry> };

const systems: Record<string, string> = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  openharmony: 'openharmony',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  sunos: 'sunos',
  aix: 'aix',
  wasm32: 'none',
  win32: 'win32',
  windows: 'win32',
};
const processors: Record<string, string> = {
  amd64: 'x64',
  arm: 'arm',
  arm64: 'arm64',
  ia32: 'ia32',
  loong64: 'loong64',
  mips64el: 'mips64el',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  wasm32: 'wasm32',
  x64: 'x64',
};

/** What a package of one platform says of it in its name, such as `@x/binding-linux-arm64-musl`. */
function platformOf(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[-/]/);
  const os = words.map((word) => systems[word]).find((found) => found !== undefined);
  const cpu = words.map((word) => processors[word]).find((found) => found !== undefined);
  const libc = words.includes('musl') ? ['musl'] : words.includes('gnu') ? ['glibc'] : undefined;
  return { ...(os && { os: [os] }), ...(cpu && { cpu: [cpu] }), ...(libc && { libc }) };
}

function missingFrom({ packages }: Lock): [place: string, entry: Entry][] {
  return Object.entries(packages).flatMap(([owner, { optionalDependencies = {}, dev }]) =>
    Object.entries(optionalDependencies).flatMap(([name, range]): [string, Entry][] => {
      const places = [`node_modules/${name}`, `${owner}/node_modules/${name}`];
      if (places.some((place) => packages[place] !== undefined)) return [];
      const version = range.replace(/^[\^~]/, '');
      return [
        [`node_modules/${name}`, { version, ...(dev && { dev }), optional: true, ...platformOf(name) }],
      ];
    }),
  );
}

/** What is wrong with the packages that the lock file of the project, or one of a tool, installs. */
function packageFaults({ packages }: Lock, isProject: boolean): [place: string, fault: string][] {
  return Object.entries(packages).flatMap(([place, entry]) => {
    if (place === '' || entry.link) return [];
    const isProduction = isProject && !entry.dev;
    const found = [
      entry.integrity
        ? undefined
        : 'has no integrity. Remedy: remove its entry, then npm install where the registry has it',
      isProduction && entry.hasInstallScript ? 'is for production and runs a script' : undefined,
    ];
    return found.flatMap((fault): [string, string][] => (fault === undefined ? [] : [[place, fault]]));
  });
}

async function treat(file: string, check: boolean): Promise<void> {
  const lock: Lock = JSON.parse(await readFile(file, 'utf8'));
  const missing = missingFrom(lock);
  const named = Object.entries(lock.packages).filter(([, { resolved, link }]) => resolved && !link);
  if (check) {
    const say = (place: string, fault: string) => process.stdout.write(`${file}: ${place} ${fault}\n`);
    for (const [place] of missing) say(place, 'is missing. Remedy: node scripts/lock.ts');
    for (const [place] of named)
      say(place, 'names a download address. Remedy: npm install with .npmrc in place');
    const faults = packageFaults(lock, file === 'package-lock.json');
    for (const [place, fault] of faults) say(place, fault);
    if (missing.length + named.length + faults.length > 0) process.exitCode = 1;
    return;
  }
  const packages = Object.entries(lock.packages)
    .concat(missing)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const complete = { ...lock, packages: Object.fromEntries(packages) };
  await writeFile(file, `${JSON.stringify(complete, null, 2)}\n`);
  process.stdout.write(`${file}: ${missing.length} package(s) of other platforms entered.\n`);
}

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) process.stdout.write(help);
else for (const file of lockFiles) await treat(file, values.check ?? false);
