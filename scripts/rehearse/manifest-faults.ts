import { z } from 'zod';
import { errorText } from '../../src/base/thrown.ts';
import { secretSettings, settings } from '../../src/config/config.ts';
import { importTool } from './tools.ts';

type Manifest = Readonly<Record<string, unknown>>;
type Model = new (manifest: Manifest) => { validate(): void };

const named = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z
    .object({ name: z.string().max(63), labels: z.record(z.string(), z.string()).default({}) })
    .loose(),
});
const container = z.object({
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  securityContext: z.object({
    readOnlyRootFilesystem: z.literal(true),
    allowPrivilegeEscalation: z.literal(false),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  resources: z.object({ requests: z.object({}).loose(), limits: z.object({ memory: z.string() }) }),
  volumeMounts: z.array(z.object({ name: z.string(), readOnly: z.literal(true) }).loose()),
});
const pod = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }).loose(),
  spec: z
    .object({
      securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.number().positive() }).loose(),
      automountServiceAccountToken: z.literal(false),
      containers: z.array(container.loose()).length(1),
      volumes: z.array(z.object({ name: z.string() }).loose()),
    })
    .loose(),
});
const workload = z.object({ spec: z.object({ template: pod }).loose() });

/** The faults of rendered manifests: against the schemas of Kubernetes, with names, and with rights of pods. */
export async function manifestFaults(manifests: readonly Manifest[]): Promise<string[]> {
  if (manifests.length === 0) return ['nothing was rendered'];
  const faults = await Promise.all([...manifests, ...manifests.flatMap(operatorPods)].map(faultsOf));
  return [...faults.flat(), ...selectorFaults(manifests)];
}

const operatorMap = z.object({ kind: z.literal('ConfigMap'), data: z.object({ pod: z.string() }) });
const operatorPod = z
  .object({
    metadata: z.object({}).loose(),
    spec: z.object({ containers: z.tuple([z.object({ name: z.string() }).loose()]) }).loose(),
  })
  .loose();

/** The pods that `kubectl run` makes of what the chart gives it: with an image, arguments and the name of its container. */
function operatorPods(manifest: Manifest): Manifest[] {
  const map = operatorMap.safeParse(manifest);
  if (!map.success) return [];
  const { metadata, spec, ...rest } = operatorPod.parse(JSON.parse(map.data.data.pod));
  const [container] = spec.containers;
  const ran = { ...container, image: 'tallystick', args: ['src/cli.ts', 'doctor'] };
  return [
    {
      ...rest,
      metadata: { ...metadata, name: container.name },
      spec: { ...spec, restartPolicy: 'Never', containers: [ran] },
    },
  ];
}

async function faultsOf(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind, metadata } = named.parse(manifest);
  const place = `${kind} ${metadata.name}`;
  const models: Readonly<Record<string, Model | undefined>> = await importTool(
    `kubernetes-models/${apiVersion}/index.js`,
  );
  const model = models[kind];
  if (model === undefined) return [`${place}: ${apiVersion} has no ${kind}`];
  const faults: string[] = [];
  try {
    new model(manifest).validate();
  } catch (error) {
    faults.push(`${place}: ${errorText(error)}`);
  }
  if (kind !== 'Deployment' && kind !== 'Job' && kind !== 'Pod') return faults;
  const parsed = workload.loose().safeParse(kind === 'Pod' ? { spec: { template: manifest } } : manifest);
  if (!parsed.success)
    return [
      ...faults,
      ...parsed.error.issues.map(({ path, message }) => `${place}: ${path.join('.')}: ${message}`),
    ];
  return [...faults, ...podFaults(place, parsed.data.spec.template.spec)];
}

function podFaults(place: string, { containers, volumes }: z.output<typeof pod>['spec']): string[] {
  const known = (setting: string) =>
    setting in settings || secretSettings.some((secret) => setting === `${secret}_FILE`);
  return containers.flatMap(({ env, volumeMounts }) => [
    ...env.filter(({ name }) => !known(name)).map(({ name }) => `${place}: ${name} is no setting`),
    ...env
      .filter(({ name }, at) => env.findIndex((other) => other.name === name) !== at)
      .map(({ name }) => `${place}: ${name} is given twice`),
    ...volumeMounts
      .filter(({ name }) => !volumes.some((volume) => volume.name === name))
      .map(({ name }) => `${place}: no volume ${name}`),
  ]);
}

/** Services, budgets and policies that choose no pod. */
function selectorFaults(manifests: readonly Manifest[]): string[] {
  const pods = manifests.flatMap((manifest) => {
    const parsed = workload.safeParse(manifest);
    return parsed.success ? [parsed.data.spec.template.metadata.labels] : [];
  });
  const labels = z.record(z.string(), z.string());
  const selecting = z.object({
    spec: z.object({
      selector: z.union([z.object({ matchLabels: labels }), labels]).optional(),
      podSelector: z.object({ matchLabels: labels }).optional(),
    }),
  });
  return manifests.flatMap((manifest) => {
    const parsed = selecting.safeParse(manifest);
    if (!parsed.success) return [];
    const { selector, podSelector } = parsed.data.spec;
    const chosen =
      podSelector?.matchLabels ??
      (selector as { matchLabels?: unknown } | undefined)?.matchLabels ??
      selector;
    if (chosen === undefined) return [];
    const wanted = Object.entries(labels.parse(chosen));
    const found = pods.some((pod) => wanted.every(([name, value]) => pod[name] === value));
    const { kind, metadata } = named.parse(manifest);
    return found ? [] : [`${kind} ${metadata.name} chooses no pod`];
  });
}
