import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Area, basePaths } from '../../src/contract/documents.ts';
import { type Generator, sdkFolder } from './generators.ts';
import { type Outcome, run } from './run-command.ts';

/** The service that the programs call. */
export type Target = { readonly baseUrl: string; readonly key: string };

// Of the sample world.
const wallet = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

export const steps = ['generated', 'compiled', 'ran'] as const;
export type Step = (typeof steps)[number];

export type Proof = {
  readonly generator: string;
  /** The document that was used. */
  readonly area: Area | 'all';
  /** The steps that were good, in their order. */
  readonly done: readonly Step[];
  /** What the step that failed has written. */
  readonly failure?: string;
};

/** The file of a document, of an area or of its 3.0.3 form. */
export const documentOf = (name: Area | `${Area}-3.0`) =>
  new URL(`../../src/contract/generated/${name}.yaml`, import.meta.url).pathname;

/** The setting that says where the service is. */
export const environmentOf = (area: Area, { baseUrl, key }: Target) => ({
  SDK_BASE_URL: `${baseUrl}${basePaths[area]}`,
  SDK_KEY: key,
  SDK_CHAIN_ID: '31337',
  SDK_WALLET: wallet,
});

async function generate({ name, command }: Generator, area: Area): Promise<Outcome> {
  const output = join('dist', name, area);
  await rm(join(sdkFolder, output), { recursive: true, force: true });
  const document = documentOf(area);
  return await run({
    args: command(document, output),
    cwd: sdkFolder,
    env: { SDK_DOCUMENT: document, SDK_OUTPUT: join(sdkFolder, output) },
  });
}

/** Compiles the output and the program on it, under the settings of `test/sdk/tsconfig.json`. */
async function compile({ name, exactOptionalProperties }: Generator, area: Area): Promise<Outcome> {
  const project = join(sdkFolder, 'dist', `tsconfig.${name}.${area}.json`);
  await mkdir(join(sdkFolder, 'dist'), { recursive: true });
  const settings = {
    extends: '../tsconfig.json',
    compilerOptions: { exactOptionalPropertyTypes: exactOptionalProperties },
    files: [`../${name}/${area}.ts`],
    include: [`${name}/${area}/**/*.ts`],
  };
  await writeFile(project, JSON.stringify(settings, null, 2));
  return await run({ args: ['node_modules/typescript/bin/tsc', '--project', project], cwd: sdkFolder });
}

/** Carries out the steps until one fails. */
export async function stepByStep(
  generator: string,
  area: Proof['area'],
  carryOut: (step: Step) => Promise<Outcome>,
): Promise<Proof> {
  const done: Step[] = [];
  for (const step of steps) {
    const { ok, output } = await carryOut(step);
    if (!ok) return { generator, area, done, failure: output };
    done.push(step);
  }
  return { generator, area, done };
}

/** Generates a client of one document, compiles a program on it, and runs that on the live service. */
export function prove(generator: Generator, area: Area, target: Promise<Target>): Promise<Proof> {
  const work: Record<Step, () => Promise<Outcome>> = {
    generated: () => generate(generator, area),
    compiled: () => compile(generator, area),
    ran: async () =>
      run({
        args: [`dist/build/${generator.name}/${area}.js`],
        cwd: sdkFolder,
        env: environmentOf(area, await target),
      }),
  };
  return stepByStep(generator.name, area, (step) => work[step]());
}
