import { getAddress, hexlify, randomBytes } from 'ethers';
import { chainId } from '../../../bench/mint/bench-chain.ts';
import { deadlineMs } from '../../../load/caller.ts';
import { until } from '../../../load/until.ts';
import type { Stage } from '../fault.ts';

/** What the flooding company has. Events and the RWA are paths. */
export type FloodGoods = {
  /** An event with 200 entries. */
  readonly largeEvent: string;
  /** An event that reads the wallets of its attendees again. */
  readonly door: string;
  readonly attendees: readonly string[];
  readonly rwa: string;
  /** A cursor behind all news. */
  readonly endOfFeed: string;
};

const events = '/events/v1/api/event';
const attendeeCount = 200;
const newsCount = 20_000;

type Asked = {
  readonly status: number;
  readonly body: { readonly id: string; readonly cursor: string; readonly hasMore: boolean };
};

/** Makes what the floods need. @param port of the process that is flooded */
export async function stockFlooder({ around, world: { acme } }: Stage, port: number): Promise<FloodGoods> {
  const { contract } = around.chain;
  const ask = async (path: string, body?: object): Promise<Asked> => {
    const headers = { 'x-api-key': acme.key, 'content-type': 'application/json' };
    const sent = body && { method: 'POST', body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(deadlineMs);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal, ...sent });
    return { status: answer.status, body: (await answer.json()) as Asked['body'] }; // as the contract has it
  };
  const rwa = `/v1/api/rwa/${acme.rwas[0]}`;
  await until(async () => (await ask(`${rwa}/holders`)).status === 200, 'owners that were not read');
  const entries = (from: number) => Array.from({ length: 100 }, (_, index) => `${contract}/${from + index}`);
  const common = { chainId: Number(chainId) };
  const large = await ask(events, {
    ...common,
    name: 'Large',
    contractRequiredToAttend: entries(0),
    contractRequiredToDiscount: entries(100),
  });
  const door = await ask(events, {
    ...common,
    name: 'Door',
    recheckAtCheckin: true,
    contractRequiredToAttend: entries(0).slice(0, 2),
  });
  const attendees = Array.from({ length: attendeeCount }, (_, index) => `guest-${index}`);
  const db = around.openDatabase();
  try {
    await db('attendees').insert(
      attendees.map((attendee_id) => ({
        company_id: acme.id,
        event_id: door.body.id,
        attendee_id,
        wallet: getAddress(hexlify(randomBytes(20))),
      })),
    );
    await db('events').where({ id: door.body.id }).update({ total_attendees: attendeeCount });
    await db.raw(
      `INSERT INTO news (company_id, type, subject, data)
       SELECT ?, 'attendee.added', ?::uuid, '{}' FROM generate_series(1, ${newsCount})`,
      [acme.id, door.body.id],
    );
    const unnumbered = async () => (await db('news').where({ position: null }).count())[0]?.['count'];
    await until(async () => Number(await unnumbered()) < 100, 'news without a number');
  } finally {
    await db.destroy();
  }
  let endOfFeed = '';
  await until(
    async () => {
      const after = endOfFeed === '' ? '' : `&after=${endOfFeed}`;
      const { cursor, hasMore } = (await ask(`/news/v1/api/feed?limit=200&types=event.deleted${after}`)).body;
      endOfFeed = cursor;
      return !hasMore;
    },
    'news that were not read',
    300_000,
  );
  return {
    largeEvent: `${events}/${large.body.id}`,
    door: `${events}/${door.body.id}`,
    attendees,
    rwa,
    endOfFeed,
  };
}
