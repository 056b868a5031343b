import { expect } from 'vitest';
import { attendeesPath, enter, givenDoor, newWallet, test } from './doors.ts';
import { eventPath } from './requests.ts';

type Answer = { readonly status: number; readonly body: { readonly code?: string } };

/** Sends again what the service had too much to do for, as its answer asks. */
async function insist(send: () => Promise<Answer>): Promise<string> {
  for (;;) {
    const { status, body } = await send();
    if (status !== 503) return status === 201 ? 'admitted' : String(body.code);
  }
}

test('a thousand requests at once for ten places and five tokens admit exactly whom they may', async ({
  service,
  acme,
  doors,
  db,
}) => {
  const listed = await doors.deploy('Listed');
  const owners = [newWallet(), newWallet()];
  // Three tokens of one wallet, two of another; eight more wallets have none.
  for (const [token, owner] of [0, 0, 0, 1, 1].entries())
    await doors.send('Listed', listed, 'mint', owners[owner]?.address, token);
  const wallets = [...owners, ...Array.from({ length: 8 }, newWallet)].map(({ address }) => address);
  const twin = await service.twin();
  const clients = [acme, twin.as(twin.keys.acme)];
  const run = async (id: string, requests: number) => {
    const outcomes = await Promise.all(
      Array.from({ length: requests }, (_, n) => {
        const body = { attendeeId: `guest ${n}`, wallet: wallets[n % wallets.length] };
        return insist(async () => enter(clients[n % 2] ?? acme, id, body));
      }),
    );
    const groups = Map.groupBy(outcomes, (outcome) => outcome);
    return Object.fromEntries([...groups].map(([outcome, all]) => [outcome, all.length]));
  };

  const gated = await givenDoor(acme, [listed], { maxAttendees: 10, oneAdmissionPerToken: true });
  expect(await run(gated, 1_000)).toEqual({ admitted: 5, tokens_used: 195, wallet_not_eligible: 800 });
  const { body: admitted } = await acme.get(attendeesPath(gated)).expect(200);
  const used = admitted.flatMap(({ tokens }: { tokens: { tokenId: string }[] }) =>
    tokens.map(({ tokenId }) => tokenId),
  );
  expect(used.toSorted()).toEqual(['0', '1', '2', '3', '4']);

  // With more tokens than places, the places decide.
  const plenty = await doors.deploy('Listed');
  for (let token = 0; token < 20; token += 1)
    await doors.send('Listed', plenty, 'mint', wallets[token % 10], token);
  const full = await givenDoor(acme, [plenty], { maxAttendees: 10, oneAdmissionPerToken: true });
  const counts: Record<string, number> = await run(full, 200);
  expect(counts['admitted']).toBe(10);
  const event = await acme.get(`${eventPath}/${full}`).expect(200);
  expect(event.body.totalAttendees).toBe(10);
  const rows = await db('attendee_tokens').where({ event_id: full });
  expect(new Set(rows.map(({ token_id }) => token_id)).size).toBe(10);
});

test('a requirement that is changed between the reading and the admission is never missed', async ({
  acme,
  doors,
  db,
}) => {
  const [old, now] = [await doors.deploy('Listed'), await doors.deploy('Listed')];
  const { address: wallet } = newWallet();
  await doors.send('Listed', old, 'mint', wallet, 1);
  const id = await givenDoor(acme, [old]);
  const waiting = async () =>
    (await db('pg_stat_activity').whereRaw("wait_event_type = 'Lock' AND query LIKE '%FOR NO KEY UPDATE%'"))
      .length;
  const { answer } = await db.transaction(async (tx) => {
    await tx('events').where({ id }).forUpdate();
    const answer = enter(acme, id, { attendeeId: 'ann', wallet }).then((response) => response);
    // It has read the chain, and waits for the event.
    await expect.poll(waiting, { timeout: 30_000 }).toBeGreaterThan(0);
    await tx('events')
      .where({ id })
      .update({ contract_required_to_attend: [now], version: tx.raw('version + 1') });
    return { answer };
  });
  const { status, body } = await answer;
  expect([status, body.code]).toEqual([403, 'wallet_not_eligible']);
});
