import { z } from 'zod';
import { roles, secretSettings, settings } from '../../src/config.ts';
import { settingsFileVariable } from '../../src/settings-file.ts';

const service = z
  .object({
    image: z.string().min(1),
    environment: z.record(z.string(), z.string()).default({}),
    secrets: z.array(z.string()).default([]),
    depends_on: z
      .record(
        z.string(),
        z.object({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }),
      )
      .default({}),
    healthcheck: z.object({}).loose().optional(),
    read_only: z.boolean().default(false),
    volumes: z.array(z.string()).default([]),
  })
  .loose();
const composeFile = z.object({
  name: z.string(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.object({ file: z.string() }).strict()),
});
type Service = z.output<typeof service>;

/** What of a compose file cannot work: names without their thing, and settings that the service does not know. */
export function composeFaults(file: unknown): string[] {
  const parsed = composeFile.loose().safeParse(file);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const { services, secrets, volumes } = parsed.data;
  const used = new Set(Object.values(services).flatMap((each) => each.secrets));
  const started = Object.values(services).map(({ environment }) => environment['ROLES']);
  return [
    ...Object.entries(services).flatMap(([name, own]) => [
      ...own.secrets.filter((secret) => !(secret in secrets)).map((secret) => `${name}: no secret ${secret}`),
      ...Object.entries(own.depends_on).flatMap(([other, { condition }]) =>
        dependencyFaults(name, services[other], other, condition),
      ),
      ...own.volumes
        .map((volume) => volume.split(':', 1)[0] ?? '')
        .filter((volume) => /^\w+$/.test(volume) && !(volume in volumes))
        .map((volume) => `${name}: no volume ${volume}`),
      ...(own.image.includes('TALLYSTICK_IMAGE') ? ownFaults(name, own) : []),
    ]),
    ...Object.keys(secrets)
      .filter((secret) => !used.has(secret))
      .map((secret) => `nobody uses secret ${secret}`),
    ...roles.filter((role) => !started.includes(role)).map((role) => `no service has the role ${role}`),
  ];
}

function dependencyFaults(
  name: string,
  other: Service | undefined,
  its: string,
  condition: string,
): string[] {
  if (other === undefined) return [`${name}: no service ${its}`];
  const isTold = condition !== 'service_healthy' || other.healthcheck !== undefined;
  return isTold ? [] : [`${name}: nobody says whether ${its} is healthy`];
}

/** Of a service that runs the image. */
function ownFaults(name: string, { environment, secrets, read_only }: Service): string[] {
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
  ];
}
