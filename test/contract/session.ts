import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../support/conformance.ts';
import { type Ids, type OperationId, rows, unknownIds } from './operations.ts';
import type { Sender, SentRequest } from './sender.ts';

/** Why a case could not be tried on this deployment. */
export class Unprovoked extends Error {}

type Keys = {
  /** Of the company that the cases work with. */
  readonly own: string;
  /** Of another company, which sees nothing of the first. */
  readonly other: string | undefined;
  /** Valid, but of no company. */
  readonly noCompany: string | undefined;
  /** Of the company, with the scope `secrets:read` only. */
  readonly scoped: string | undefined;
};

export type CallOptions = {
  /** Without one the own key is sent; null sends none. */
  readonly key?: string | null;
  readonly ids?: Partial<Ids>;
  /** Added to the query of the operation's row. */
  readonly query?: string;
  /** Instead of the method and the path of the row. */
  readonly method?: string;
  readonly path?: string;
  /** Instead of the body of the row. An object is sent as JSON, null is no body. */
  readonly body?: object | string | null;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Session = {
  /** Whether cases may leave traces: events, which are deleted, and NFTs, which cannot be. */
  readonly mayWrite: boolean;
  readonly keys: Keys;
  /** What is given to read on this deployment beside what the API tells. */
  readonly given: { readonly chainId?: string; readonly wallet?: string; readonly token?: string };
  /** Calls an operation; the ids that are not given name nothing that exists. */
  call(id: OperationId, options?: CallOptions): Promise<Answer>;
  /** As `call`, for what must work before a case can be tried. Its body, parsed. */
  ask<T>(id: OperationId, options?: CallOptions): Promise<T>;
  /** Makes an event that is deleted at the end. */
  makeEvent(fields?: object): Promise<{ readonly id: string; readonly etag: string }>;
  /** Makes an RWA that is archived at the end. */
  makeRwa(): Promise<{ readonly id: string }>;
  /** Makes an endpoint that is deleted at the end. @returns its id */
  makeEndpoint(): Promise<string>;
  /** Deletes the events and endpoints that were made, and archives the RWAs. NFTs are left: no operation deletes them. */
  cleanUp(): Promise<Leavings>;
};

/** Ids of what was made. */
export type Leavings = {
  readonly deletedEvents: number;
  readonly undeletedEvents: readonly string[];
  readonly nfts: readonly string[];
};

type SessionOptions = Pick<Session, 'mayWrite' | 'keys' | 'given'> & {
  readonly sender: Sender;
  /** Sees every answer; throws when it is not as documented. */
  readonly check: (answer: Answer) => void;
};

const maxWaits = 5;

/** The request of an operation; the ids that are not given name nothing that exists. */
export function requestOf(id: OperationId, options: CallOptions, ownKey: string): SentRequest {
  const row = rows[id];
  const ids = { ...unknownIds(), ...options.ids };
  const path = options.path ?? row.path(ids);
  const body = options.body === undefined ? row.body?.(ids) : options.body;
  const key = options.key === undefined ? ownKey : options.key;
  return {
    area: row.area,
    method: options.method ?? row.method,
    path: options.query === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${options.query}`,
    headers: {
      ...(key !== null && { 'x-api-key': key }),
      ...(body !== undefined && body !== null && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    body: typeof body === 'object' && body !== null ? JSON.stringify(body) : (body ?? undefined),
  };
}

/** What the cases work with on one deployment. */
export function createSession({ sender, check, keys, mayWrite, given }: SessionOptions): Session {
  const events = new Set<string>();
  const nfts = new Set<string>();
  const rwas = new Set<string>();
  const endpoints = new Set<string>();
  let hosts = 0;

  const call: Session['call'] = async (id, options = {}) => {
    const answer = await sendInTurn(requestOf(id, options, keys.own));
    remember(id, answer);
    check(answer);
    return answer;
  };

  /** Waits when the key has no request left, as the answer says. */
  const sendInTurn = async (request: SentRequest): Promise<Answer> => {
    for (let left = maxWaits; ; left -= 1) {
      const answer = await sender.send(request);
      if (left === 0 || !answer.text.includes('"rate_limited"')) return answer;
      await pause(Math.min(Number(answer.headers['retry-after']), 60) * 1_000);
    }
  };

  // Whatever was made, also by a request that should have been refused.
  const remember = (id: OperationId, { status, text }: Answer) => {
    if (status >= 300) return;
    if (id === 'createRwa') rwas.add(JSON.parse(text).id);
    if (id === 'createEvent') events.add(JSON.parse(text).id);
    if (id === 'createEndpoint') endpoints.add(JSON.parse(text).id);
    if (id === 'createAndMintNft') nfts.add(JSON.parse(text).nftId);
    if (id === 'createRwaNfts') for (const nft of JSON.parse(text).nfts) nfts.add(nft.id);
  };

  const succeed = async (id: OperationId, options?: CallOptions) => {
    const answer = await call(id, options);
    if (answer.status < 300) return answer;
    throw new Unprovoked(`${id} answered ${answer.status}: ${detailOf(answer)}`);
  };

  return {
    mayWrite,
    keys,
    given,
    call,
    async ask<T>(id: OperationId, options?: CallOptions) {
      return JSON.parse((await succeed(id, options)).text) as T; // as documented: `check` has seen it
    },
    async makeEvent(fields = {}) {
      const body = { name: 'Contract test, may be deleted', ...fields };
      const answer = await succeed('createEvent', { body });
      const { id }: { id: string } = JSON.parse(answer.text);
      return { id, etag: answer.headers['etag'] ?? '' };
    },
    async makeRwa() {
      const chainId = Number(given.chainId ?? '31337');
      const price = { price: '240.00', currency: 'EUR' };
      const body = { name: 'Contract test, to be archived', type: 'whisky', chainId, ...price };
      return JSON.parse((await succeed('createRwa', { body })).text);
    },
    async makeEndpoint() {
      // A company may have 20.
      const [spare] = endpoints;
      if (endpoints.size > 10 && spare !== undefined)
        await call('deleteEndpoint', { ids: { endpointId: spare } });
      if (spare !== undefined && endpoints.size > 10) endpoints.delete(spare);
      hosts += 1;
      const body = { url: `https://endpoint-${hosts}.example/news` };
      const { id } = JSON.parse((await succeed('createEndpoint', { body })).text);
      return id;
    },
    async cleanUp() {
      for (const rwaId of rwas) await call('updateRwa', { ids: { rwaId }, body: { archived: true } });
      for (const endpointId of endpoints)
        await call('deleteEndpoint', { ids: { endpointId } }).catch(() => {});
      const undeletedEvents: string[] = [];
      for (const eventId of events) {
        const status = await call('deleteEvent', { ids: { eventId } }).then(
          (answer) => answer.status,
          () => 0,
        );
        if (status !== 204 && status !== 404) undeletedEvents.push(eventId);
      }
      const deletedEvents = events.size - undeletedEvents.length;
      return { deletedEvents, undeletedEvents, nfts: [...nfts] };
    },
  };
}

/** The text that a problem tells, or the beginning of whatever else came. */
export function detailOf({ text }: Answer): string {
  try {
    return String(JSON.parse(text).detail);
  } catch {
    return text.slice(0, 200);
  }
}
