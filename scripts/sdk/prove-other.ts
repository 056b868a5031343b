import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../find-program.ts';
import { sdkFolder } from './generators.ts';
import type { OtherGenerator } from './other-languages.ts';
import { documentOf, environmentOf, type Proof, type Step, stepByStep, type Target } from './prove.ts';
import { type Outcome, runAll } from './run-command.ts';
import { installToolchain, toolsFolder } from './toolchain.ts';

/** The programs that this machine lacks for a generator. */
export const lackingFor = ({ toolchains }: Pick<OtherGenerator, 'toolchains'>): string[] => [
  ...new Set(toolchains.flatMap(({ needs }) => needs).filter((name) => findProgram(name) === undefined)),
];

/** Installs what generators share, one after the other. */
export async function installToolchains(
  generators: readonly Pick<OtherGenerator, 'toolchains'>[],
): Promise<void> {
  await mkdir(toolsFolder, { recursive: true });
  for (const toolchain of new Set(generators.flatMap(({ toolchains }) => toolchains)))
    await installToolchain(toolchain);
}

/** Generates a client of the events in another language, compiles its program, and runs that on the live service. */
export async function proveOther(generator: OtherGenerator, target: Promise<Target>): Promise<Proof> {
  const { name, commands, env = {} } = generator;
  const area = 'events';
  const folder = join(sdkFolder, 'dist', name);
  await rm(folder, { recursive: true, force: true });
  await cp(join(sdkFolder, name), folder, { recursive: true });
  const forms = { current: documentOf(area), threeZero: documentOf(`${area}-3.0`) };
  const carryOut = async (step: Step): Promise<Outcome> => {
    const more = step === 'ran' ? environmentOf(area, await target) : {};
    return await runAll(commands[step](forms), { cwd: folder, env: { ...env, ...more } });
  };
  return await stepByStep(name, area, carryOut);
}
