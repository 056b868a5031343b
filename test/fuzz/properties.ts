import fc from 'fast-check';
import { type DocumentedOperation, documentedOperations } from '../contract/documented.ts';
import type { Answer } from '../support/conformance.ts';
import { doorChain } from './door-chain.ts';
import { faultyDrafts, toRequest, validDrafts } from './drafts.ts';
import { eventChain } from './event-chain.ts';
import { caller, type FuzzContext } from './fuzz-context.ts';
import { hintsFor } from './hints.ts';
import { isBusinessRefusal } from './judge.ts';
import { nftChain } from './nft-chain.ts';
import { oddRequests, otherMethods, wrongKeys } from './odd-requests.ts';
import { pageChain } from './page-chain.ts';
import type { Prober } from './prober.ts';
import { assert, type Property, property } from './property.ts';

/** Everything that must hold, whatever is asked. */
export function allProperties(context: FuzzContext): Property[] {
  const templates = [...new Set(documentedOperations.map(({ template }) => template))];
  const { mintable, door } = context;
  return [
    ...documentedOperations.flatMap((operation) => ofOperation(operation, context)),
    ...templates.map((template) => methodsOf(template, context)),
    anything(context),
    eventChain(context),
    pageChain(context),
    ...(door === undefined ? [] : [doorChain(context, door)]),
    ...(mintable === undefined ? [] : [nftChain({ ...context, mintable })]),
  ];
}

function ofOperation(operation: DocumentedOperation, context: FuzzContext): Property[] {
  const hints = hintsFor(context);
  const { key, pool } = context;
  const { id } = operation;
  const accepts = property(
    `${id} accepts what fits`,
    1,
    validDrafts(operation, hints),
    async (prober, draft) => {
      const answer = await prober.send(toRequest(draft, pool, key));
      if (id === 'createEvent' && answer.status === 201)
        await useUpEvent(context, prober, JSON.parse(answer.text).id);
      if (answer.status >= 300) assert(isBusinessRefusal(operation, answer), `refused with ${answer.status}`);
    },
  );
  const refuses = property(
    `${id} refuses what does not fit`,
    2,
    faultyDrafts(operation, hints),
    async (prober, faulty) => {
      const { draft, why, status } = faulty;
      const answer = await prober.send(toRequest(draft, pool, key));
      if (id === 'createEvent' && answer.status === 201)
        await useUpEvent(context, prober, JSON.parse(answer.text).id);
      assert(
        answer.status === status || isTooLong(answer),
        `${why}, answered ${answer.status} instead of ${status}`,
      );
    },
  );
  const drafts = fc.oneof(
    validDrafts(operation, hints),
    faultyDrafts(operation, hints).map(({ draft }) => draft),
  );
  const guarded = fc.tuple(drafts, wrongKeys(key));
  const wantsKey = property(`${id} wants a key`, 0.5, guarded, async (prober, [draft, wrong]) => {
    const request = toRequest(draft, pool, undefined);
    const headers = { ...request.headers, ...(wrong !== undefined && { 'x-api-key': wrong }) };
    const answer = await prober.send({ ...request, headers });
    const isRight = operation.isPublic ? answer.status !== 401 : answer.status === 401;
    assert(isRight || isTooLong(answer), `answered ${answer.status} to a wrong key`);
  });
  return [accepts, refuses, wantsKey];
}

/** What is too long for any request is refused before anything of it is looked at. */
const isTooLong = ({ status }: Answer) => status === 431;

/** A resource that was made is there, and gone after it was deleted. */
async function useUpEvent(context: FuzzContext, prober: Prober, eventId: string): Promise<void> {
  const call = caller(context, prober);
  const before = await call('getEvent', { ids: { eventId } });
  assert(before.status === 200, `the event that was made answered ${before.outcome}`);
  const deleted = await call('deleteEvent', { ids: { eventId } });
  assert(deleted.status === 204, `deleting it answered ${deleted.outcome}`);
  const after = await call('getEvent', { ids: { eventId } });
  assert(after.outcome === '404 event_not_found', `the deleted event answered ${after.outcome}`);
}

function methodsOf(template: string, { key }: FuzzContext): Property {
  const [first] = documentedOperations.filter((each) => each.template === template);
  assert(first !== undefined, `${template} has no operation`);
  const { area } = first;
  const path = template.replaceAll(/\{[^}]+\}/g, 'x');
  const tries = fc.tuple(otherMethods(template), fc.boolean());
  return property(`other methods on ${template}`, 0.2, tries, async (prober, [method, withKey]) => {
    const headers: Record<string, string> = withKey ? { 'x-api-key': key } : {};
    const answer = await prober.send({ area, method, path, headers });
    // That Allow names the documented methods is looked at with every answer.
    assert(answer.status === 405, `answered ${answer.status}`);
  });
}

function anything({ key }: FuzzContext): Property {
  return property('anything at all', 6, oddRequests(key), async (prober, request) => {
    const answer = await prober.send(request);
    const id = createdEvent(answer.text, answer.status);
    if (id === undefined) return;
    const headers = { 'x-api-key': key };
    await prober.send({ area: 'events', method: 'delete', path: `/events/v1/api/event/${id}`, headers });
  });
}

function createdEvent(text: string, status: number): string | undefined {
  return status === 201 && text.includes('"totalAttendees"') ? JSON.parse(text).id : undefined;
}
