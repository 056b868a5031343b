import { dirname, join } from 'node:path';
import { areas } from '../../src/config/config.ts';
import { basePaths } from '../../src/contract/documents.ts';
import type { ClientPackage } from './client-package.ts';
import { sdkFolder } from './generators.ts';
import type { Words } from './run-command.ts';

const node = process.execPath;
const installed = (file: string) => join(sdkFolder, 'node_modules', file);
const tsc = installed('typescript/bin/tsc');
const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];

/** The package of `openapi-typescript` and `openapi-fetch`. */
export const typescriptPackage: ClientPackage = {
  name: 'package-typescript',
  toolchains: [],
  file: (version) => `tallystick-client-${version}.tgz`,
  manifest: 'package.json',
  program: 'partner.ts',
  files: (document) => ({
    'src/base-paths.ts': `export const basePaths = ${JSON.stringify(basePaths, null, 2)} as const;\n`,
    ...Object.fromEntries(areas.map((area) => [`documents/${area}.json`, document(area)])),
  }),
  commands: {
    generated: ({ file }) => [
      ...areas.map((area): Words => {
        const generator = installed('openapi-typescript/bin/cli.js');
        return [node, generator, `documents/${area}.json`, '--output', `src/${area}.ts`];
      }),
      [node, tsc, '--project', '.'],
      ['npm', 'pack', '--pack-destination', dirname(file)],
    ],
    compiled: ({ file }) => [
      ['npm', 'init', '--yes', '--init-type', 'module'],
      ['npm', 'install', '--no-audit', '--no-fund', file],
      [
        ...([node, tsc, ...strict, '--module', 'NodeNext', '--target', 'ES2024'] as const),
        ...['--types', 'node', '--typeRoots', installed('@types'), 'partner.ts'],
      ],
    ],
    ran: () => [[node, 'partner.js']],
  },
};
