import { join } from 'node:path';
import type { Step } from './prove.ts';
import type { Words } from './run-command.ts';
import {
  generatorJar,
  go,
  openapiGenerator,
  python,
  pythonPath,
  pythonProgram,
  type Toolchain,
  toolsFolder,
} from './toolchain.ts';

/** The documents of the events, in both forms. */
type Forms = { readonly current: string; readonly threeZero: string };

/**
 * A generator for a language that npm has no tools for. It makes the folder `client` of the document of the events, in
 * a copy of its folder in `test/sdk/`, whose program is then compiled and run.
 */
export type OtherGenerator = {
  readonly name: string;
  readonly version: string;
  readonly toolchains: readonly Toolchain[];
  readonly env?: Readonly<Record<string, string>>;
  readonly commands: Readonly<Record<Step, (forms: Forms) => readonly Words[]>>;
};

// The packages of a client are fetched at the versions of go.mod. The toolchain is the machine's own.
const goEnv = { GOFLAGS: `${process.env['GOFLAGS'] ?? ''} -mod=mod`.trim(), GOTOOLCHAIN: 'local' };
const goSteps = {
  compiled: (): Words[] => [
    ['go', 'vet', './...'],
    ['go', 'build', '-o', 'proof', '.'],
  ],
  ran: (): Words[] => [['./proof']],
};

const version = '7.25.0';
const generate =
  (...options: readonly string[]) =>
  ({ threeZero }: Forms): Words => [
    ...(['java', '-jar', generatorJar, 'generate', '-i', threeZero] as const),
    ...options,
  ];

const mavenSteps = (main: string) => ({
  compiled: (): Words[] => [
    ['mvn', '-q', '-B', 'compile', 'dependency:copy-dependencies', '-DoutputDirectory=target/lib'],
  ],
  ran: (): Words[] => [['java', '-cp', 'target/classes:target/lib/*', main]],
});

const ofGo: readonly OtherGenerator[] = [
  {
    name: 'ogen',
    version: '1.24.0',
    toolchains: [go, { needs: ['ogen'] }],
    env: goEnv,
    commands: {
      generated: ({ current }) => [['ogen', '--target', 'client', '--package', 'client', '--clean', current]],
      ...goSteps,
    },
  },
  {
    name: 'oapi-codegen',
    version: '2.8.2',
    toolchains: [go],
    env: goEnv,
    commands: {
      generated: ({ threeZero }) => [
        ['mkdir', 'client'],
        [
          ...(['go', 'run', 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'] as const),
          ...['--config', 'config.yaml', threeZero],
        ],
      ],
      ...goSteps,
    },
  },
  {
    name: 'openapi-generator-go',
    version,
    toolchains: [go, openapiGenerator],
    env: goEnv,
    commands: {
      generated: (forms) => [
        generate(
          '-g',
          'go',
          '-o',
          'client',
          '--additional-properties=packageName=client,withGoMod=false',
        )(forms),
        // Tests of its own, which would want one more library.
        ['rm', '-r', 'client/test'],
      ],
      ...goSteps,
    },
  },
];

const ofPython: readonly OtherGenerator[] = [
  {
    name: 'openapi-python-client',
    version: '0.29.1',
    toolchains: [python],
    env: pythonPath,
    commands: {
      generated: ({ current }) => [
        ['openapi-python-client', 'generate', '--path', current, '--meta', 'none', '--output-path', 'client'],
      ],
      compiled: () => [[pythonProgram('mypy'), '--strict', '--follow-imports=silent', 'main.py']],
      ran: () => [[pythonProgram('python'), 'main.py']],
    },
  },
  {
    name: 'openapi-generator-python',
    version,
    toolchains: [python, openapiGenerator],
    commands: {
      generated: (forms) => [
        generate('-g', 'python', '-o', 'made', '--package-name', 'client')(forms),
        ['mv', 'made/client', 'client'],
      ],
      compiled: () => [[pythonProgram('mypy'), '--strict', '--follow-imports=silent', 'main.py']],
      ran: () => [[pythonProgram('python'), 'main.py']],
    },
  },
];

const ofOthers: readonly OtherGenerator[] = [
  {
    name: 'openapi-generator-java',
    version,
    toolchains: [openapiGenerator],
    commands: {
      generated: (forms) => [
        generate(
          ...['-g', 'java', '--library', 'native', '-o', 'made', '--invoker-package', 'client'],
          ...['--api-package', 'client.api', '--model-package', 'client.model'],
        )(forms),
        ['mv', 'made/src/main/java/client', 'src/client'],
      ],
      ...mavenSteps('Main'),
    },
  },
  {
    name: 'openapi-generator-kotlin',
    version,
    toolchains: [openapiGenerator],
    commands: {
      generated: (forms) => [generate('-g', 'kotlin', '-o', 'client', '--package-name', 'client')(forms)],
      ...mavenSteps('MainKt'),
    },
  },
  {
    name: 'openapi-generator-rust',
    version,
    toolchains: [openapiGenerator, { needs: ['cargo'] }],
    // A result that was compiled before is good for the next run.
    env: { CARGO_TARGET_DIR: join(toolsFolder, 'cargo') },
    commands: {
      generated: (forms) => [generate('-g', 'rust', '-o', 'client', '--package-name', 'client')(forms)],
      compiled: () => [['cargo', 'build', '--quiet']],
      ran: () => [['cargo', 'run', '--quiet']],
    },
  },
];

export const otherGenerators: readonly OtherGenerator[] = [...ofGo, ...ofPython, ...ofOthers];
