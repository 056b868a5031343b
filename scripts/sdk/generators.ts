/** Where the generators are installed and where their output goes, apart from the project's own packages. */
export const sdkFolder = new URL('../../test/sdk/', import.meta.url).pathname;

export type Generator = {
  readonly name: string;
  /** The package whose version is shown. */
  readonly package: string;
  /** Words behind `node` that make `output`, a folder in `sdkFolder`, of a document. */
  command(document: string, output: string): readonly string[];
  /** Whether its own code compiles under `exactOptionalPropertyTypes`; where it does not, no document can help. */
  readonly exactOptionalProperties: boolean;
};

export const generators: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    package: 'openapi-typescript',
    command: (document, output) => [
      'node_modules/openapi-typescript/bin/cli.js',
      document,
      '--output',
      `${output}/schema.d.ts`,
    ],
    exactOptionalProperties: true,
  },
  {
    name: 'hey-api',
    package: '@hey-api/openapi-ts',
    command: (document, output) => [
      'node_modules/@hey-api/openapi-ts/bin/run.js',
      '--input',
      document,
      '--output',
      output,
      '--client',
      '@hey-api/client-fetch',
    ],
    // The client that it copies next to its output assigns undefined to optional properties.
    exactOptionalProperties: false,
  },
  {
    name: 'orval',
    package: 'orval',
    command: () => ['node_modules/orval/dist/bin/orval.mjs', '--config', 'orval/config.ts'],
    exactOptionalProperties: true,
  },
  {
    name: 'kubb',
    package: '@kubb/core',
    command: () => ['node_modules/@kubb/cli/bin/kubb.cjs', 'generate', '--config', 'kubb/config.ts'],
    // An operation whose body may be left out sets `data` to undefined.
    exactOptionalProperties: false,
  },
];
