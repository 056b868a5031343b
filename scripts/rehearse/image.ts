import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };
import { startDatabaseServer } from '../load/database-server.ts';
import { rehearseOperator } from './compose-operator.ts';
import { execForm, type Instruction, readStages, type Stage } from './dockerfile.ts';
import { type Bind, enter, type Jail, makeJail } from './jail.ts';
import type { Report } from './report.ts';
import { hasProgram, runProgram } from './run-program.ts';
import { installTools } from './tools.ts';
import { serveAndStop, untilEnded } from './watch-role.ts';

const root = path.join(import.meta.dirname, '../..');

// Who does the steps of a stage that names nobody; a runtime does them as root.
const nobody = 65_534;

/** What the last stage leaves: the folder with its settings, and what is started in it. */
type Image = {
  readonly jail: Jail;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
};

/** Builds the image without a container runtime, and runs each role of it as one would. */
export async function rehearseImage(report: Report): Promise<void> {
  if (process.getuid?.() !== 0 || !(await hasProgram('unshare')))
    throw new Error('Namespaces are needed. Remedy: run it as root on Linux');
  if (!(await hasProgram('psql')))
    throw new Error('psql is needed. Remedy: install the client of PostgreSQL');
  await installTools();
  const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-image-'));
  await runProgram('chmod', ['755', folder]);
  try {
    const images = new Map<string, Image>();
    let last: Image | undefined;
    for (const stage of readStages(await readFile(path.join(root, 'deploy/Dockerfile'), 'utf8'))) {
      last = await build(stage, path.join(folder, stage.name ?? 'image'), images, report);
      if (last === undefined) return;
      if (stage.name !== undefined) images.set(stage.name, last);
    }
    if (last !== undefined) await runRoles(last, folder, report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns undefined when a step failed */
async function build(
  stage: Stage,
  folder: string,
  images: ReadonlyMap<string, Image>,
  report: Report,
): Promise<Image | undefined> {
  const textOf = (name: string) => stage.instructions.findLast((each) => each.name === name);
  const registry = (await runProgram('npm', ['config', 'get', 'registry'])).trim();
  const env = Object.fromEntries(
    stage.instructions
      .filter(({ name }) => name === 'ENV')
      .flatMap(({ text }) => text.split(/\s+/).map((pair) => pair.split('=', 2) as [string, string])), // NAME=value
  );
  const runs = stage.instructions.some(({ name }) => name === 'RUN');
  const jail: Jail = {
    root: folder,
    workdir: textOf('WORKDIR')?.text ?? '/',
    uid: Number(textOf('USER')?.text.split(':', 1)[0] ?? nobody),
    // Only steps that build need the registry.
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/tmp',
      ...(runs && { npm_config_registry: registry }),
      ...env,
    },
  };
  await makeJail(jail, runs);
  for (const instruction of stage.instructions) {
    const step = stepOf(instruction, jail, images);
    if (step === undefined) continue;
    const origin = instruction.from === undefined ? '' : ` --from=${instruction.from}`;
    if (!(await report(`${instruction.name}${origin} ${instruction.text}`, step))) return undefined;
  }
  const words = (name: string) => {
    const found = textOf(name);
    return found === undefined ? [] : execForm(found);
  };
  return { jail, entrypoint: words('ENTRYPOINT'), command: words('CMD') };
}

/** What an instruction does to the folder; undefined for those that only describe the image. */
function stepOf(
  { name, text, from }: Instruction,
  jail: Jail,
  images: ReadonlyMap<string, Image>,
): (() => Promise<void>) | undefined {
  if (name === 'RUN') {
    return async () => {
      await untilEnded(enter(jail, ['/bin/sh', '-c', text], false));
    };
  }
  if (name !== 'COPY') return undefined;
  const words = text.split(/\s+/);
  const target = path.join(jail.root, jail.workdir, words.pop() ?? '');
  const image = from === undefined ? undefined : images.get(from);
  return async () => {
    for (const source of words) await copy(source, target, image, jail);
  };
}

async function copy(source: string, target: string, image: Image | undefined, jail: Jail): Promise<void> {
  const place = image === undefined ? path.join(root, source) : path.join(image.jail.root, source);
  if (image !== undefined || source !== '.') {
    const into = target.endsWith('/') ? path.join(target, path.basename(source)) : target;
    await cp(place, into, { recursive: true, verbatimSymlinks: true });
  } else {
    // The whole context: what its list lets in.
    const ignored = await readFile(path.join(root, 'deploy/Dockerfile.dockerignore'), 'utf8');
    const allowed = ignored.split('\n').filter((line) => line.startsWith('!'));
    for (const line of allowed)
      await cp(path.join(root, line.slice(1)), path.join(target, line.slice(1)), { recursive: true });
  }
  // Stages that run steps do so by a user without rights; of the image everything belongs to root.
  if (image === undefined) await runProgram('chown', ['-R', `${jail.uid}:${jail.uid}`, target]);
  else await runProgram('chown', ['-R', '0:0', target]);
}

async function runRoles(image: Image, folder: string, report: Report): Promise<void> {
  const size = await runProgram('du', ['-sm', path.join(image.jail.root, image.jail.workdir)]);
  process.stdout.write(`the image has ${size.split('\t', 1)[0]} MB above its base\n`);
  const database = await startDatabaseServer(path.join(folder, 'database'));
  const run = (
    command: readonly string[],
    env: Readonly<Record<string, string>> = {},
    binds: readonly Bind[] = [],
  ) => {
    const jail = { ...image.jail, binds, env: { ...image.jail.env, ...env } };
    return enter(jail, [...image.entrypoint, ...command], true);
  };
  try {
    await report('nothing can be written, and the user is not root', async () => {
      await untilEnded(run(['-e', writing]));
    });
    await report('it has no development dependency and no package manager of its own', async () => {
      const found = await untilEnded(run(['-e', looking([...(await onlyForDevelopment()), 'npm'])]));
      if (found !== '') throw new Error(found);
    });
    const users = await makeUsers(database.url, folder, report);
    await report('src/cli.ts migrate, as the owner', async () => {
      await untilEnded(run(['src/cli.ts', 'migrate'], users.settings('owner')));
    });
    for (const role of ['api', 'worker', 'indexer'])
      await report(`ROLES=${role} starts as process 1, answers, and stops by SIGTERM`, () => {
        const settings = { ROLES: role, PORT: '0', OPERATIONS_PORT: '0', DRAIN_SECONDS: '0' };
        return serveAndStop(run(image.command, { ...users.settings(role), ...settings }), role === 'api');
      });
    const { uid } = image.jail;
    const operator = { folder, uid, serve: image.command, databaseUrl: users.urlOf };
    await rehearseOperator(
      { ...operator, run: (command, given) => run(command, given.env, given.binds) },
      report,
    );
  } finally {
    await database.close();
  }
}

const writing = `
  const { writeFileSync } = require('node:fs');
  if (process.getuid() === 0 || process.pid !== 1) process.exit(3);
  for (const file of ['/app/x', '/tmp/x', '/x', '/app/node_modules/x'])
    try { writeFileSync(file, 'x'); process.exit(4); } catch (error) { if (error.code !== 'EROFS') throw error; }`;

/** Those that no package of the image wants, too: `@types/node` is a peer of one. */
async function onlyForDevelopment(): Promise<string[]> {
  const lock: { packages: Readonly<Record<string, { readonly dev?: boolean }>> } = JSON.parse(
    await readFile(path.join(root, 'package-lock.json'), 'utf8'),
  );
  return Object.keys(packageFile.devDependencies).filter(
    (name) => lock.packages[`node_modules/${name}`]?.dev === true,
  );
}

const looking = (names: readonly string[]) => `
  const { existsSync } = require('node:fs');
  process.stdout.write(${JSON.stringify(names)}.filter((name) => existsSync('/app/node_modules/' + name)).join());`;

/** Secrets and database users as `compose.yaml` has them, made by its own scripts. */
async function makeUsers(ownerUrl: string, folder: string, report: Report) {
  const scripts = path.join(root, 'deploy/compose');
  const secrets = path.join(folder, 'secrets');
  const owner = new URL(ownerUrl);
  await report('compose/make-secrets.sh makes secrets, and the same ones when it runs again', async () => {
    await runProgram(path.join(scripts, 'make-secrets.sh'), [folder]);
    const first = await readSecret(secrets, 'secret_keys');
    await runProgram(path.join(scripts, 'make-secrets.sh'), [folder]);
    if ((await readSecret(secrets, 'secret_keys')) !== first) throw new Error('secret_keys has changed');
  });
  await report('compose/users.sh makes a database user for each role', async () => {
    const place = { PGHOST: owner.hostname, PGPORT: owner.port, PGPASSWORD: owner.password };
    const names = { POSTGRES_USER: owner.username, POSTGRES_DB: owner.pathname.slice(1) };
    const env = { PATH: process.env['PATH'], SECRETS_DIRECTORY: secrets, ...place, ...names };
    await runProgram(path.join(scripts, 'users.sh'), [], { env });
  });
  const read = async (name: string) => [name, await readSecret(secrets, name)] as const;
  const kinds = ['api', 'worker', 'indexer', 'operator'].map((kind) => `database_${kind}_url`);
  const texts = new Map(await Promise.all([...kinds, 'secret_keys', 'cursor_keys'].map(read)));
  const urlOf = (kind: string): string => {
    if (kind === 'owner') return ownerUrl;
    const url = new URL(texts.get(`database_${kind}_url`) ?? '');
    // Another server and database than that of compose.yaml.
    return Object.assign(url, { host: owner.host, pathname: owner.pathname }).href;
  };
  return {
    urlOf,
    settings: (kind: string) => ({
      DATABASE_URL: urlOf(kind),
      SECRET_KEYS: texts.get('secret_keys') ?? '',
      CURSOR_KEYS: texts.get('cursor_keys') ?? '',
    }),
  };
}

const readSecret = async (folder: string, name: string) =>
  (await readFile(path.join(folder, name), 'utf8')).trim();
