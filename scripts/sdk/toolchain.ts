import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sdkFolder } from './generators.ts';
import { run } from './run-command.ts';

/** Where generators and their kin go that npm does not bring. */
export const toolsFolder = join(sdkFolder, 'dist/tools');

/** The shared parts of generators of other languages: programs of the machine, and packages that they install once. */
export type Toolchain = {
  /** Programs that the machine must have. */
  readonly needs: readonly string[];
  /** A file of `toolsFolder` that is there once it is installed. */
  readonly installed?: string;
  /** What installs it, run in `toolsFolder`. */
  readonly install?: readonly (readonly string[])[];
};

const jar = 'openapi-generator-cli-7.25.0.jar';
const venv = 'python-2';
const packages = [
  'openapi-python-client==0.29.1',
  'mypy==1.18.2',
  // It makes the package of the Python client.
  'setuptools==80.9.0',
  // Of the clients of openapi-generator; the other's are its own.
  'urllib3==2.7.0',
  'pydantic==2.12.5',
  'python-dateutil==2.9.0.post0',
];

export const go: Toolchain = { needs: ['go'] };

export const python: Toolchain = {
  needs: ['python3'],
  installed: join(venv, 'bin/mypy'),
  install: [
    ['python3', '-m', 'venv', '--clear', venv],
    [`${venv}/bin/pip`, 'install', '--quiet', '--disable-pip-version-check', ...packages],
  ],
};

export const openapiGenerator: Toolchain = {
  needs: ['java', 'mvn'],
  installed: jar,
  install: [
    [
      ...['mvn', '-q', '-B', 'dependency:copy', '-DoutputDirectory=.'],
      `-Dartifact=org.openapitools:openapi-generator-cli:${jar.replace(/^.*-([\d.]+)\.jar$/, '$1')}`,
    ],
  ],
};

export const pythonProgram = (name: string): string => join(toolsFolder, venv, 'bin', name);
export const generatorJar = join(toolsFolder, jar);

/** Installs a toolchain unless it is there. @throws Error with what the installer has written */
export async function installToolchain({ installed, install = [] }: Toolchain): Promise<void> {
  if (installed === undefined) return;
  if (existsSync(join(toolsFolder, installed))) return;
  for (const [program = '', ...args] of install) {
    const own = program.includes('/') ? join(toolsFolder, program) : program;
    const { ok, output } = await run({ program: own, args, cwd: toolsFolder });
    if (!ok) throw new Error(`${installed} could not be installed:\n${output}`);
  }
}

/** The search path on which Python's generators find each other: one calls ruff by its name. */
export const pythonPath = { PATH: `${pythonProgram('.')}:${process.env['PATH']}` };
