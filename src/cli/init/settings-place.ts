import { randomUUID } from 'node:crypto';
import {
  access,
  chmod,
  chown,
  constants,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../../base/thrown.ts';
import { UsageError } from '../shared/failure.ts';

/** Where the settings are, as they were read. Until they are replaced, nothing is written: a terminal may be closed at any time. */
export type SettingsPlace = {
  /** Absolute, behind links. */
  readonly path: string;
  /** Undefined where there are none yet. */
  readonly text: string | undefined;
  /**
   * Puts the new text in the place of the old text, whole or not at all; a new file is for its owner only.
   * @throws UsageError when somebody else has changed the file since it was read
   */
  replace(text: string): Promise<void>;
};

/** @throws UsageError when the folder cannot be written */
export async function findSettingsPlace(given: string): Promise<SettingsPlace> {
  const file = await realpath(given).catch(() => path.resolve(given));
  await access(path.dirname(file), constants.W_OK).catch((error: Error) => {
    throw new UsageError(`${file} cannot be written: ${error.message}`);
  });
  const text = await textOf(file);
  return {
    path: file,
    text,
    async replace(next) {
      // Of its own name, so that what a killed process left is in nobody's way.
      const draft = `${file}.${randomUUID()}`;
      const handle = await open(draft, 'wx', 0o600);
      try {
        await handle.writeFile(next);
        // Its keys are nowhere else.
        await handle.sync();
        const present = await stat(file).catch(() => undefined);
        if (present) {
          await chown(draft, present.uid, present.gid);
          await chmod(draft, present.mode & 0o770);
        }
        if ((await textOf(file)) !== text)
          throw new UsageError(
            `${file} was changed meanwhile, by another init or by hand: run tallystick init again.`,
          );
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      } finally {
        await handle.close();
      }
    },
  };
}

const textOf = (file: string) =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
