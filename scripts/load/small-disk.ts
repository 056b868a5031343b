import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A file system of its own, small enough to be filled. */
export type SmallDisk = {
  /** Leaves no room. */
  fill(): void;
  /** Gives the room back. */
  free(): void;
  close(): void;
};

const diskBytes = 2_000_000_000;
// Of the last megabytes the file system needs some itself.
const restBytes = 20_000_000;

/** Mounts a file as a disk at the folder. @returns undefined where that is not allowed: it takes root and a loop device */
export function mountSmallDisk(folder: string): SmallDisk | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const image = `${folder}.disk`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(image, '');
  truncateSync(image, diskBytes);
  const run = (...[command = '', ...words]: string[]) => spawnSync(command, words).status === 0;
  if (!run('mkfs.ext4', '-q', '-m', '0', image) || !run('mount', '-o', 'loop', image, folder)) {
    rmSync(image);
    return undefined;
  }
  const unmount = () => {
    // At once from the folders, and from the machine when nobody uses it any more.
    run('umount', '-l', folder);
    rmSync(image, { force: true });
  };
  // A run that cannot go on leaves nothing mounted.
  process.once('exit', unmount);
  const fillers = ['filler', 'rest'].map((name) => path.join(folder, name));
  const [most = '', rest = ''] = fillers;
  return {
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      run('fallocate', '-l', String(Math.max(bsize, bavail * bsize - restBytes)), most);
      // Fails when there is no room any more.
      run('dd', 'if=/dev/zero', `of=${rest}`, 'bs=4096');
    },
    free() {
      for (const filler of fillers) rmSync(filler, { force: true });
    },
    close() {
      process.off('exit', unmount);
      unmount();
    },
  };
}
