import { chmod, chown, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type RunningProcess, startProcess } from '../../test/support/process.ts';

/** What a program sees as its machine: a folder, with the system's own programs and libraries bound into it. */
export type Jail = {
  readonly root: string;
  readonly workdir: string;
  /** Of the user, and its group. */
  readonly uid: number;
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders of this machine that it has, as the volumes of a container. */
  readonly binds?: readonly Bind[];
};

export type Bind = { readonly from: string; readonly to: string; readonly isReadOnly: boolean };

// What base images have, in place of which those of this machine stand.
const system = ['usr', 'etc', 'dev', 'opt'];

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Makes the folder, empty but for `/tmp` and the working directory, which belongs to the user if `isOwner`. */
export async function makeJail(jail: Jail, isOwner: boolean): Promise<void> {
  for (const name of [...system, 'proc', 'tmp']) await mkdir(path.join(jail.root, name), { recursive: true });
  await chmod(path.join(jail.root, 'tmp'), 0o1777);
  const workdir = path.join(jail.root, jail.workdir);
  await mkdir(workdir, { recursive: true });
  if (isOwner) await chown(workdir, jail.uid, jail.uid);
}

/**
 * Starts a program as process 1 of namespaces of its own, which end with it.
 * @param isReadOnly whether nothing at all can be written
 */
export function enter(jail: Jail, command: readonly string[], isReadOnly: boolean): RunningProcess {
  const binds = system.map(
    (name) => `test -d /${name} && mount --rbind /${name} ${quote(jail.root)}/${name}`,
  );
  const volumes = (jail.binds ?? []).flatMap(({ from, to, isReadOnly }) => {
    const target = quote(path.join(jail.root, to));
    return [
      `mkdir -p "$(dirname ${target})"`,
      `if test -d ${quote(from)}; then mkdir -p ${target}; else touch ${target}; fi`,
      `mount --bind ${quote(from)} ${target}`,
      ...(isReadOnly ? [`mount -o remount,ro,bind ${target}`] : []),
    ];
  });
  const links = ['bin', 'sbin', 'lib', 'lib32', 'lib64'].map(
    (name) =>
      `test -e /${name} && test ! -e ${quote(jail.root)}/${name} && cp -a /${name} ${quote(jail.root)}/`,
  );
  const program = `cd ${quote(jail.workdir)} && exec "$@"`;
  const script = [
    `mount --bind ${quote(jail.root)} ${quote(jail.root)}`,
    ...binds,
    ...links,
    ...volumes,
    `mount -t proc proc ${quote(jail.root)}/proc`,
    ...(isReadOnly ? [`mount -o remount,ro,bind ${quote(jail.root)}`] : []),
    `exec chroot --userspec=${jail.uid}:${jail.uid} ${quote(jail.root)} /bin/sh -c ${quote(program)} sh "$@"`,
  ].join('\n');
  const args = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh', ...command];
  return startProcess(args, jail.env, { command: 'unshare' });
}
