import { chmod, chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../shared/failure.ts';

/** A settings file that no other `init` writes meanwhile. */
export type HeldFile = {
  /** Absolute, behind links. */
  readonly path: string;
  /** Undefined where there is none yet. */
  readonly text: string | undefined;
  /** Puts the new text in the place of the old one, whole or not at all; a new file is for its owner only. */
  replace(text: string): Promise<void>;
  /** Lets go, whether it was replaced or not. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** @throws UsageError when another one holds the file, or its folder cannot be written */
export async function holdFile(given: string): Promise<HeldFile> {
  const file = await realpath(given).catch(() => path.resolve(given));
  const draft = `${file}.new`;
  const handle = await open(draft, 'wx', 0o600).catch((error: unknown) => refuse(draft, error));
  let isReplaced = false;
  try {
    const present = await stat(file).catch(() => undefined);
    const text = present && (await readFile(file, 'utf8'));
    return {
      path: file,
      text,
      async replace(next) {
        await handle.writeFile(next);
        // Its keys are nowhere else.
        await handle.sync();
        if (present) {
          await chown(draft, present.uid, present.gid);
          await chmod(draft, present.mode & 0o770);
        }
        await rename(draft, file);
        isReplaced = true;
      },
      async [Symbol.asyncDispose]() {
        await handle.close();
        if (!isReplaced) await rm(draft, { force: true });
      },
    };
  } catch (error) {
    await handle.close();
    await rm(draft, { force: true });
    throw error;
  }
}

function refuse(draft: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  throw new UsageError(
    code === 'EEXIST'
      ? `${draft} is there: another init is at work. If none is, remove it.`
      : `${draft} cannot be made: ${error instanceof Error ? error.message : String(error)}`,
  );
}
