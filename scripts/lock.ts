import { readFile } from 'node:fs/promises';

/*
 * Fails where a lock file lacks a package of another platform, names a download address, or has a package without integrity,
 * and where what production installs runs a script when it is installed.
 */

const lockFiles = ['package-lock.json', 'test/sdk/package-lock.json', 'test/deploy/package-lock.json'];

type Entry = {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Packages = Readonly<Record<string, Entry>>;

/** Packages that a registry which mirrors only some platforms makes npm leave out; `npm ci` elsewhere rejects the file then. */
const missingFrom = (packages: Packages, owner: string, { optionalDependencies = {} }: Entry) =>
  Object.keys(optionalDependencies).filter((name) =>
    [`node_modules/${name}`, `${owner}/node_modules/${name}`].every((place) => !(place in packages)),
  );

/** @param isProject whether it is the project's own lock file, and not that of a tool */
function faultsOf(packages: Packages, isProject: boolean): string[] {
  return Object.entries(packages).flatMap(([place, entry]) => {
    const found = missingFrom(packages, place, entry).map(
      (name) => `node_modules/${name} is missing. Remedy: npm install where the registry has it`,
    );
    if (place === '' || entry.link) return found;
    if (entry.resolved)
      found.push(`${place} names a download address. Remedy: npm install with .npmrc in place`);
    if (!entry.integrity)
      found.push(
        `${place} has no integrity. Remedy: remove its entry, then npm install where the registry has it`,
      );
    if (isProject && !entry.dev && entry.hasInstallScript)
      found.push(`${place} is for production and runs a script`);
    return found;
  });
}

for (const file of lockFiles) {
  const { packages }: { packages: Packages } = JSON.parse(await readFile(file, 'utf8'));
  const faults = faultsOf(packages, file === 'package-lock.json');
  for (const fault of faults) process.stdout.write(`${file}: ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
