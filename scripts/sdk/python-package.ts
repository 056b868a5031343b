import { join } from 'node:path';
import { type Area, areas } from '../../src/config/config.ts';
import { basePaths, documents } from '../../src/contract/documents.ts';
import type { ClientPackage } from './client-package.ts';
import type { Words } from './run-command.ts';
import { python, pythonPath, pythonProgram } from './toolchain.ts';

/** Puts `x-tags` in the place of the tags of an operation: openapi-python-client names its modules after tags alone. */
const withPlainTags = (_key: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && 'x-tags' in value
    ? { ...value, tags: value['x-tags'] }
    : value;

const withPlainModules = (area: Area) =>
  JSON.stringify(JSON.parse(JSON.stringify(documents[area]), withPlainTags));

const folder = 'tallystick_client';

/** The package of openapi-python-client. */
export const pythonPackage: ClientPackage = {
  name: 'package-python',
  toolchains: [python],
  env: pythonPath,
  file: (version) => `${folder}-${version}-py3-none-any.whl`,
  manifest: 'pyproject.toml',
  program: 'partner.py',
  files: (document) => ({
    [`${folder}/py.typed`]: '',
    [`${folder}/base_paths.py`]: `BASE_PATHS = ${JSON.stringify(basePaths, null, 4)}\n`,
    ...Object.fromEntries(areas.map((area) => [`${folder}/documents/${area}.json`, document(area)])),
    ...Object.fromEntries(areas.map((area) => [`made/${area}.json`, withPlainModules(area)])),
  }),
  commands: {
    generated: ({ file }) => [
      ...areas.map((area): Words => {
        const output = ['--meta', 'none', '--output-path', `${folder}/${area}`];
        return ['openapi-python-client', 'generate', '--path', `made/${area}.json`, ...output];
      }),
      ['pip', 'wheel', '--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', join(file, '..'), '.'],
    ],
    compiled: ({ file }) => [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '--quiet', '--disable-pip-version-check', file],
      [pythonProgram('mypy'), '--strict', '--python-executable', 'venv/bin/python', 'partner.py'],
    ],
    ran: () => [['venv/bin/python', 'partner.py']],
  },
};
