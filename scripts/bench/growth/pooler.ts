import { hasPgbouncer, startPgbouncer } from '../../../test/support/pgbouncer.ts';
import { type Replica, startReplica } from '../../load/replica.ts';
import { rounded } from '../suite.ts';
import { type Around, ownSettings } from './lists.ts';

type Pace = {
  readonly listsPerSecond: number;
  readonly createsPerSecond: number;
  /** Of one caller who waits for each answer, in milliseconds: half of them. */
  readonly listMs: number;
  readonly createMs: number;
};

const inFlight = 16;

/** Lists and creates straight to the server and through PgBouncer in transaction mode; nothing where it is not installed. */
export async function measurePooler(serverUrl: string, around: Around) {
  if (!hasPgbouncer) return undefined;
  const bouncer = await startPgbouncer(serverUrl);
  try {
    const direct = await measure({ DATABASE_URL: serverUrl }, around);
    const through = { DATABASE_URL: bouncer.through(serverUrl), DATABASE_SESSION_URL: serverUrl };
    const pooled = await measure(through, around);
    return {
      found: { direct, pooled },
      ratios: {
        listsThroughPooler: rounded(pooled.listsPerSecond / direct.listsPerSecond),
        createsThroughPooler: rounded(pooled.createsPerSecond / direct.createsPerSecond),
      },
    };
  } finally {
    await bouncer.close();
  }
}

async function measure(
  settings: Readonly<Record<string, string>>,
  { folder, key, isQuick }: Around,
): Promise<Pace> {
  const service = await startReplica({
    name: 'growth-pooler',
    folder,
    settings: { ...ownSettings, ...settings },
  });
  try {
    const [many, few] = isQuick ? [1_000, 200] : [3_000, 500];
    await send(service, key, { kind: 'list', count: 300, callers: inFlight });
    await send(service, key, { kind: 'create', count: 100, callers: inFlight });
    const lists = await send(service, key, { kind: 'list', count: many, callers: inFlight });
    const creates = await send(service, key, { kind: 'create', count: many, callers: inFlight });
    return {
      listsPerSecond: lists.perSecond,
      createsPerSecond: creates.perSecond,
      listMs: (await send(service, key, { kind: 'list', count: few, callers: 1 })).halfMs,
      createMs: (await send(service, key, { kind: 'create', count: few, callers: 1 })).halfMs,
    };
  } finally {
    await service.stop();
  }
}

type Load = { readonly kind: 'list' | 'create'; readonly count: number; readonly callers: number };

/** @throws Error when one is not answered */
async function send({ port }: Replica, key: string, { kind, count, callers }: Load) {
  const times: number[] = [];
  let next = 0;
  const caller = async () => {
    for (let index = next++; index < count; index = next++) {
      const began = performance.now();
      const signal = AbortSignal.timeout(15_000);
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const asked =
        kind === 'list'
          ? { headers, signal }
          : { method: 'POST', body: JSON.stringify({ name: `Event ${index}` }), headers, signal };
      const path = kind === 'list' ? '/events/v1/api/event?limit=20' : '/events/v1/api/event';
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, asked);
      if (!answer.ok) throw new Error(`${kind} was answered ${answer.status}`);
      await answer.arrayBuffer();
      times.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - began) / 1_000;
  const half = times.toSorted((one, other) => one - other)[Math.floor(count / 2)] ?? 0;
  return { perSecond: rounded(count / seconds), halfMs: rounded(half) };
}
