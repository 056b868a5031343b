import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { z } from 'zod';
import { roles, secretSettings, settings } from '../../src/config/config.ts';
import { settingsFileVariable } from '../../src/config/settings-file.ts';
import { runProgram } from '../run-program.ts';
import { toolFolder } from './tools.ts';

const service = z
  .object({
    image: z.string().min(1),
    environment: z.record(z.string(), z.string()).default({}),
    secrets: z.array(z.string()).default([]),
    read_only: z.boolean().default(false),
    volumes: z.array(z.string()).default([]),
    ports: z.array(z.string()).default([]),
    mem_limit: z.string().optional(),
  })
  .loose();
/** Of a compose file, what is used of it here. */
const composeFile = z.object({ services: z.record(z.string(), service) });
type Service = z.output<typeof service>;

/** Says where the file of compose breaks the published schema of the Compose specification, of which dclint has a copy. */
export async function schemaFaults(file: unknown): Promise<string[]> {
  const text = await readFile(path.join(toolFolder, 'dclint/schemas/compose.schema.json'), 'utf8');
  // Its name of the draft is none that Ajv knows; it is draft 7.
  const { $schema: _, ...schema } = JSON.parse(text);
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  const validate = ajv.compile(schema);
  if (validate(file)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

/**
 * Has Docker Compose itself read the file, with every profile.
 * @returns false where it is not installed
 */
export async function readByCompose(file: string): Promise<boolean> {
  const args = ['compose', '--file', file, '--profile', '*', 'config', '--quiet'];
  const isHere = await runProgram('docker', ['compose', 'version']).then(
    () => true,
    () => false,
  );
  if (!isHere) return false;
  const env = { ...process.env, PUBLIC_BASE_URL: 'https://api.example' };
  await runProgram('docker', args, { env });
  return true;
}

/** What of a compose file does not fit the service: its settings, roles and rights. Names are for Docker Compose to judge. */
export function composeFaults(file: unknown): string[] {
  const parsed = composeFile.loose().safeParse(file);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const { services } = parsed.data;
  const started = Object.values(services).map(({ environment }) => environment['ROLES']);
  return [
    ...Object.entries(services).flatMap(([name, own]) => [
      ...(own.mem_limit === undefined ? [`${name}: may use all memory`] : []),
      ...(own.image.includes('TALLYSTICK_IMAGE') ? ownFaults(name, own) : []),
    ]),
    ...operatorFaults(services),
    ...roles.filter((role) => !started.includes(role)).map((role) => `no service has the role ${role}`),
  ];
}

/**
 * The faults of the service of operators: rights that it lacks to make keystores, deploy, grant and export, and other
 * services that get at the admin's key.
 */
function operatorFaults(services: Readonly<Record<string, Service>>): string[] {
  const { operator, ...others } = services;
  if (operator === undefined) return ['no service operator'];
  const mountsOf = ({ volumes }: Service) => volumes.map((volume) => volume.replace(/^.*(?=:\/)/, ''));
  return [
    ...['/keystores', '/admin', '/output']
      .filter((target) => !mountsOf(operator).includes(`:${target}`))
      .map((target) => `operator: cannot write ${target}`),
    ...['keystore_password', 'admin_password']
      .filter((secret) => !operator.secrets.includes(secret))
      .map((secret) => `operator: has no ${secret}`),
    ...Object.entries(others).flatMap(([name, other]) => [
      ...(other.secrets.includes('admin_password') ? [`${name}: has the password of the admin`] : []),
      ...mountsOf(other).flatMap((mount) => (mount.startsWith(':/admin') ? [`${name}: has ${mount}`] : [])),
    ]),
  ];
}

/** Of a service that runs the image. */
function ownFaults(name: string, { environment, secrets, read_only, ports }: Service): string[] {
  const known = (setting: string) =>
    setting in settings ||
    setting === settingsFileVariable ||
    secretSettings.some((secret) => setting === `${secret}_FILE`);
  const files = Object.values(environment).filter((value) => value.startsWith('/run/secrets/'));
  return [
    ...Object.keys(environment)
      .filter((setting) => !known(setting))
      .map((setting) => `${name}: ${setting} is no setting`),
    ...files
      .filter((file) => !secrets.includes(file.slice('/run/secrets/'.length)))
      .map((file) => `${name}: is not given ${file}`),
    ...(read_only ? [] : [`${name}: can write`]),
    ...ports
      .filter((port) => !/^(127\.0\.0\.1|\$\{\w+:-127\.0\.0\.1\}):/.test(port))
      .map((port) => `${name}: publishes ${port} to everybody, without TLS`),
    ...keyFaults(name, environment['ROLES'], secrets),
  ];
}

// What a process of a role opens or signs with. An operator has all.
const keysOfRole: Readonly<Record<string, readonly string[]>> = {
  api: ['secret_keys', 'cursor_keys', 'node_keys'],
  worker: ['secret_keys', 'node_keys'],
  indexer: ['node_keys'],
};

/** Keys that a service has and its role does not need. */
function keyFaults(name: string, role: string | undefined, secrets: readonly string[]): string[] {
  const needed = keysOfRole[role ?? ''];
  if (needed === undefined) return [];
  return secrets
    .filter((secret) => secret.endsWith('_keys') && !needed.includes(secret))
    .map((secret) => `${name}: has ${secret}, which ${role} does not need`);
}
