import { isDeepStrictEqual } from 'node:util';
import { Wallet } from 'ethers';
import fc, { type Arbitrary } from 'fast-check';
import { caller, type FuzzContext } from './fuzz-context.ts';
import type { Door } from './local-target.ts';
import { assert, type Property, property } from './property.ts';

type Call = ReturnType<typeof caller>;
type Proof = { readonly message: string; readonly signature: string };

/** Who was admitted so far, and by which token. */
type Model = {
  readonly eventId: string;
  readonly attendees: Map<string, { readonly tokenId: string; isIn: boolean }>;
  readonly revoked: string[];
  /** A proof that has admitted somebody. */
  used: Proof | undefined;
};

type Step = (call: Call, model: Model) => Promise<void>;

const users = fc.constantFrom('ann', 'bob', 'cy');
const stranger = new Wallet(`0x${'77'.repeat(32)}`);
const forger = new Wallet(`0x${'88'.repeat(32)}`);

async function sign(call: Call, { eventId }: Model, wallet: Wallet, signer: Wallet): Promise<Proof> {
  const body = { wallet: wallet.address, chainId: 31337 };
  const { json, outcome } = await call('createChallenge', { ids: { eventId }, body });
  assert(outcome === '200', `createChallenge answered ${outcome}`);
  const message = String(json['message']);
  return { message, signature: await signer.signMessage(message) };
}

type Entry = {
  readonly user: string;
  readonly wallet: Wallet;
  readonly tokenId: string;
  readonly proof: 'right' | 'none' | 'used' | 'of another';
};

const enter =
  ({ user, wallet, tokenId, proof }: Entry, { owners }: Door): Step =>
  async (call, model) => {
    const { eventId, attendees, used } = model;
    const sent =
      proof === 'none'
        ? null
        : proof === 'used' && used !== undefined
          ? used
          : await sign(call, model, wallet, proof === 'right' ? wallet : forger);
    const body = { attendeeId: user, wallet: wallet.address, tokenIds: [tokenId], proof: sent };
    const reply = await call('addAttendee', { ids: { eventId }, body });
    const expected = ((): string => {
      if (attendees.has(user)) return '409 attendee_already_invited';
      if (sent === null) return '400 proof_required';
      if (proof !== 'right') return '400 proof_invalid';
      if (owners.get(tokenId) !== wallet) return '403 wallet_not_eligible';
      const isFree = ![...attendees.values()].some((admission) => admission.tokenId === tokenId);
      return isFree ? '201' : '409 tokens_used';
    })();
    assert(reply.outcome === expected, `addAttendee answered ${reply.outcome} instead of ${expected}`);
    if (reply.status !== 201 || sent === null) return;
    attendees.set(user, { tokenId, isIn: false });
    model.used = sent;
  };

/** Scans the ticket of a user twice, and removes the user when asked to: the ticket is revoked then. */
const scan =
  (user: string, removes: boolean): Step =>
  async (call, model) => {
    const { eventId, attendees, revoked } = model;
    const ids = { eventId, attendeeId: user };
    const admission = attendees.get(user);
    const ticket = await call('getTicket', { ids });
    const found = admission === undefined ? '404 attendee_not_found' : '200';
    assert(ticket.outcome === found, `getTicket answered ${ticket.outcome} instead of ${found}`);
    if (admission === undefined) return;
    const text = String(ticket.json['ticket']);
    const checkIn = async (...expected: string[]) => {
      const door = await call('checkInAttendees', { ids, body: { items: expected.map(() => text) } });
      const seen = (door.json['items'] as { status: string }[]).map(({ status }) => status); // as documented
      assert(isDeepStrictEqual(seen, expected), `the check-in came to ${seen} instead of ${expected}`);
    };
    await checkIn(admission.isIn ? 'already_admitted' : 'admitted', 'already_admitted');
    admission.isIn = true;
    if (!removes) return;
    const removed = await call('removeAttendeeById', { ids });
    assert(removed.outcome === '204', `removeAttendeeById answered ${removed.outcome}`);
    attendees.delete(user);
    revoked.push(String(ticket.json['ticketId']));
    await checkIn('unknown');
    const list = await call('listRevokedTickets', { ids });
    const tickets = list.json['tickets'] as { ticketId: string }[]; // as documented
    const listed = tickets.map(({ ticketId }) => ticketId);
    assert(isDeepStrictEqual(listed, revoked), `the revoked tickets are ${listed} instead of ${revoked}`);
  };

function steps(door: Door): Arbitrary<Step> {
  const entries: Arbitrary<Entry> = fc.record({
    user: users,
    wallet: fc.constantFrom(...door.owners.values(), stranger),
    tokenId: fc.constantFrom(...door.owners.keys()),
    proof: fc.constantFrom('right', 'right', 'right', 'none', 'used', 'of another'),
  });
  return fc.oneof(
    { weight: 2, arbitrary: entries.map((entry) => enter(entry, door)) },
    fc.tuple(users, fc.boolean()).map(([user, removes]) => scan(user, removes)),
  );
}

/** A proof and a token admit once, a ticket too, until its attendee is removed. */
export function doorChain(context: FuzzContext, door: Door): Property {
  const chains = fc.array(steps(door), { minLength: 2, maxLength: 10 });
  return property('doors in a row', 4, chains, async (prober, all) => {
    const call = caller(context, prober);
    const created = await call('createEvent', {
      body: {
        name: 'Fuzz, may be deleted',
        chainId: 31337,
        contractRequiredToAttend: [door.contract],
        proofRequired: true,
        oneAdmissionPerToken: true,
      },
    });
    assert(created.outcome === '201', `createEvent answered ${created.outcome}`);
    const eventId = String(created.json['id']);
    const model: Model = { eventId, attendees: new Map(), revoked: [], used: undefined };
    try {
      for (const step of all) await step(call, model);
    } finally {
      await call('deleteEvent', { ids: { eventId } });
    }
  });
}
