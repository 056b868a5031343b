import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Area, documents } from '../../src/contract/documents.ts';
import { sdkFolder } from './generators.ts';
import { type Proof, type Step, stepByStep, type Target } from './prove.ts';
import { runAll, type Words } from './run-command.ts';
import type { Toolchain } from './toolchain.ts';

/** Where a package is made of its sources, what it is called, and where a partner installs it. */
type Places = { readonly folder: string; readonly file: string; readonly partner: string };

/**
 * A package of clients for all documents, made of its folder in `test/sdk/`. The first step makes it, the second
 * installs it in the empty folder of a partner and checks the types of the partner's program, the third runs that.
 */
export type ClientPackage = {
  readonly name: string;
  readonly toolchains: readonly Toolchain[];
  /** The name of its file. */
  readonly file: (version: string) => string;
  /** Its file with the version. */
  readonly manifest: string;
  /** The program of a partner. */
  readonly program: string;
  /** Further files of its folder, by name. */
  readonly files: (document: (area: Area) => string) => Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly commands: Readonly<Record<Step, (places: Places) => readonly Words[]>>;
};

/** The version of the service, which its clients have too. */
export async function releaseVersion(): Promise<string> {
  const file = new URL('../../package.json', import.meta.url);
  const { version }: { version: string } = JSON.parse(await readFile(file, 'utf8'));
  return version;
}

const documentText = (area: Area) => `${JSON.stringify(documents[area], null, 2)}\n`;

async function layOut({ name, manifest, files }: ClientPackage, folder: string, version: string) {
  await rm(folder, { recursive: true, force: true });
  await cp(join(sdkFolder, name), folder, { recursive: true });
  const text = await readFile(join(folder, manifest), 'utf8');
  const all = { [manifest]: text.replace('0.0.0', version), ...files(documentText) };
  for (const [file, content] of Object.entries(all)) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), content);
  }
}

/** Makes a package in the directory `out`, installs it as a partner does, and runs a program with it. */
export async function provePackage(
  made: ClientPackage,
  out: string,
  target: Promise<Target>,
): Promise<Proof> {
  const { name, program, commands, env = {} } = made;
  const version = await releaseVersion();
  const partner = await mkdtemp(join(tmpdir(), 'tallystick-partner-'));
  const places = { folder: join(sdkFolder, 'dist', name), file: join(out, made.file(version)), partner };
  try {
    await layOut(made, places.folder, version);
    await cp(join(sdkFolder, name, program), join(partner, program));
    return await stepByStep(name, 'all', async (step) => {
      const cwd = step === 'generated' ? places.folder : partner;
      const { baseUrl, key } = step === 'ran' ? await target : { baseUrl: '', key: '' };
      return runAll(commands[step](places), { cwd, env: { ...env, SDK_BASE_URL: baseUrl, SDK_KEY: key } });
    });
  } finally {
    await rm(partner, { recursive: true, force: true });
  }
}
