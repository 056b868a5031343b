import { describe, expect } from 'vitest';
import {
  addDeadNetwork,
  attendeesPath,
  eligibilityPath,
  enter,
  givenDoor,
  givenHolder,
  newWallet,
  test,
} from './doors.ts';
import { eventPath, givenAttendees, givenEvent } from './requests.ts';

describe('201', () => {
  test('admits an eligible wallet, and keeps wallet, price and block', async ({ acme, doors }) => {
    const { wallet: address, listed } = await givenHolder(doors, 7);
    const discount = {
      contractRequiredToDiscount: [listed],
      price: 45.5,
      currency: 'EUR',
      discountPercentage: 15,
    };
    const id = await givenDoor(acme, [listed], discount);
    const block = await doors.provider.getBlock('latest');
    const { body } = await enter(acme, id, { attendeeId: 'ann', wallet: address.toLowerCase() }).expect(201);
    const time = new Date(Number(block?.timestamp) * 1_000).toISOString();
    expect(body).toEqual({
      attendeeId: 'ann',
      eventId: id,
      label: null,
      inside: null,
      createdAt: body.createdAt,
      checkedInAt: null,
      wallet: address,
      appliedPrice: 38.68,
      blocks: [{ chainId: 31337, number: String(block?.number), hash: block?.hash, time }],
      tokens: [],
    });
    const { body: list } = await acme.get(attendeesPath(id)).expect(200);
    expect(list).toEqual([body]);
    const event = await acme.get(`${eventPath}/${id}`).expect(200);
    expect(event.body.totalAttendees).toBe(1);
  });

  test('admits any wallet to an event without entries, at its price', async ({ acme }) => {
    const { id } = await givenEvent(acme, { price: 0.1 });
    const { address } = newWallet();
    const { body } = await enter(acme, id, { attendeeId: 'ann', wallet: address }).expect(201);
    expect(body).toMatchObject({ wallet: address, appliedPrice: 0.1, blocks: [], tokens: [] });
  });

  test('checks nothing of a user without a wallet', async ({ acme, doors }) => {
    const id = await givenDoor(acme, [await doors.deploy('Listed')], { price: 5 });
    for (const wallet of [undefined, null]) {
      const { body } = await enter(acme, id, { attendeeId: `ann ${wallet}`, wallet }).expect(201);
      expect(body).toMatchObject({ wallet: null, appliedPrice: null, blocks: [], tokens: [] });
    }
  });

  test('answers the same for the same Idempotency-Key, though no chain is read again', async ({
    acme,
    doors,
    db,
  }) => {
    const signer = newWallet();
    const badge = await doors.deploy('Listed');
    await doors.send('Listed', badge, 'mint', signer.address, 1);
    const gated = await givenDoor(acme, [badge], { proofRequired: true });
    const { body: challenge } = await acme
      .post(`${eventPath}/${gated}/challenge`)
      .send({ wallet: signer.address })
      .expect(200);
    const proof = { message: challenge.message, signature: await signer.signMessage(challenge.message) };
    const send = () =>
      enter(acme, gated, { attendeeId: 'ann', wallet: signer.address, proof }).set('Idempotency-Key', 'door');
    const first = await send().expect(201);
    // With no network left, whatever needed a chain would be 503.
    const rows = await db('networks').where({ chain_id: 31337 });
    await db('networks')
      .where({ chain_id: 31337 })
      .update({ rpc_urls: ['http://127.0.0.1:9'] });
    const second = await send().expect(201);
    await db('networks').where({ chain_id: 31337 }).update({ rpc_urls: rows[0].rpc_urls });
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotency-replayed']).toBe('true');
  });

  test('consumes the tokens that made the wallet eligible, and frees them with the attendee', async ({
    acme,
    doors,
  }) => {
    const { wallet, listed } = await givenHolder(doors, 7, 8);
    const id = await givenDoor(acme, [listed], { oneAdmissionPerToken: true });
    const token = (tokenId: string) => ({ chainId: 31337, contractAddress: listed, tokenId });
    const free = async () => {
      const { body } = await acme.get(eligibilityPath(id, wallet)).expect(200);
      return [body.mayAttend, body.attend[0].freeTokenIds];
    };
    expect(await free()).toEqual([true, ['7', '8']]);
    const ann = await enter(acme, id, { attendeeId: 'ann', wallet }).expect(201);
    expect(ann.body.tokens).toEqual([token('7')]);
    expect(await free()).toEqual([true, ['8']]);
    const bob = await enter(acme, id, { attendeeId: 'bob', wallet }).expect(201);
    expect(bob.body.tokens).toEqual([token('8')]);
    expect(await free()).toEqual([false, []]);
    const { body } = await enter(acme, id, { attendeeId: 'eve', wallet }).expect(409);
    expect(body.code).toBe('tokens_used');
    await acme.delete(`${attendeesPath(id)}/ann`).expect(204);
    const eve = await enter(acme, id, { attendeeId: 'eve', wallet }).expect(201);
    expect(eve.body.tokens).toEqual([token('7')]);
    const { body: list } = await acme.get(`${attendeesPath(id)}?limit=5`).expect(200);
    expect(list.map(({ tokens }: { tokens: unknown }) => tokens)).toEqual([[token('8')], [token('7')]]);
  });

  test('does not count a token at another event, nor one that was sold with its admission', async ({
    acme,
    doors,
  }) => {
    const [seller, buyer] = [newWallet().address, newWallet().address];
    const listed = await doors.deploy('Listed');
    await doors.send('Listed', listed, 'mint', seller, 7);
    const one = await givenDoor(acme, [listed], { oneAdmissionPerToken: true });
    const other = await givenDoor(acme, [listed], { oneAdmissionPerToken: true });
    await enter(acme, one, { attendeeId: 'ann', wallet: seller }).expect(201);
    await enter(acme, other, { attendeeId: 'ann', wallet: seller }).expect(201);
    await doors.transfer(listed, seller, buyer, 7);
    const { body } = await enter(acme, one, { attendeeId: 'bob', wallet: buyer }).expect(409);
    expect(body.code).toBe('tokens_used');
  });

  test('takes the tokens that the user names, where the contract lists none', async ({ acme, doors }) => {
    const { address: wallet } = newWallet();
    const unlisted = await doors.deploy('Unlisted');
    for (const token of [7, 8]) await doors.send('Unlisted', unlisted, 'mint', wallet, token);
    await doors.send('Unlisted', unlisted, 'mint', newWallet().address, 9);
    const id = await givenDoor(acme, [unlisted], { oneAdmissionPerToken: true });
    const { body: asked } = await acme.get(eligibilityPath(id, wallet)).expect(200);
    expect(asked).toMatchObject({ mayAttend: true, attend: [{ freeTokenIds: null, balance: '2' }] });
    const codeOf = async (body: object, status: number) =>
      (await enter(acme, id, { attendeeId: 'ann', wallet, ...body }).expect(status)).body.code;
    expect(await codeOf({}, 400)).toBe('token_ids_required');
    expect(await codeOf({ tokenIds: ['9'] }, 403)).toBe('wallet_not_eligible');
    expect(await codeOf({ tokenIds: ['10'] }, 403)).toBe('wallet_not_eligible');
    const named = { attendeeId: 'ann', wallet, tokenIds: ['9', '08', '8'] };
    const { body } = await enter(acme, id, named).expect(201);
    expect(body.tokens).toMatchObject([{ tokenId: '8' }]);
    expect(
      (await enter(acme, id, { attendeeId: 'bob', wallet, tokenIds: ['8'] }).expect(409)).body.code,
    ).toBe('tokens_used');
  });

  test('wants the tokens named where the contract lists one of them twice', async ({ acme, doors }) => {
    const { address: wallet } = newWallet();
    const repeating = await doors.deploy('Repeating');
    for (const token of [7, 8]) await doors.send('Repeating', repeating, 'mint', wallet, token);
    const id = await givenDoor(acme, [repeating], { oneAdmissionPerToken: true, minimumBalance: '2' });
    const { body } = await enter(acme, id, { attendeeId: 'ann', wallet }).expect(400);
    expect(body.code).toBe('token_ids_required');
    const { body: added } = await enter(acme, id, { attendeeId: 'ann', wallet, tokenIds: ['7', '8'] }).expect(
      201,
    );
    expect(added.tokens).toMatchObject([{ tokenId: '7' }, { tokenId: '8' }]);
  });

  test.for([
    [['7', (2n ** 256n).toString()], '/tokenIds/1'],
    [['9'.repeat(78)], '/tokenIds/0'],
    [[], '/tokenIds'],
  ] as const)(
    '400: rejects the token ids %j without asking a node',
    async ([tokenIds, pointer], { acme, db }) => {
      await addDeadNetwork(db);
      const id = await givenDoor(acme, [`eip155:31338:${newWallet().address}`], {
        oneAdmissionPerToken: true,
      });
      const { body } = await enter(acme, id, {
        attendeeId: 'ann',
        wallet: newWallet().address,
        tokenIds,
      }).expect(400);
      expect(body).toMatchObject({ code: 'input_invalid', errors: [{ pointer }] });
      await db('networks').where({ chain_id: 31338 }).delete();
    },
  );

  test('consumes a token of each entry with requireAll, and as many as minimumBalance says', async ({
    acme,
    doors,
  }) => {
    const { address: wallet } = newWallet();
    const [one, other] = [await doors.deploy('Listed'), await doors.deploy('Listed')];
    for (const contract of [one, other])
      for (const token of [1, 2, 3]) await doors.send('Listed', contract, 'mint', wallet, token);
    const id = await givenDoor(acme, [one, other], {
      oneAdmissionPerToken: true,
      requireAll: true,
      minimumBalance: '2',
    });
    const { body } = await enter(acme, id, { attendeeId: 'ann', wallet }).expect(201);
    expect(body.tokens).toHaveLength(4);
    const again = await enter(acme, id, { attendeeId: 'bob', wallet }).expect(409);
    expect(again.body.code).toBe('tokens_used');
  });
});

describe('400', () => {
  test.for([{ proofRequired: true }, { oneAdmissionPerToken: true }])(
    'wants a wallet where the event has %j',
    async (fields, { acme }) => {
      const { id } = await givenEvent(acme, { ...fields, maxAttendees: 0 });
      const { body } = await enter(acme, id, { attendeeId: 'ann' }).expect(400);
      expect(body).toMatchObject({ code: 'wallet_required', errors: [{ pointer: '/wallet' }] });
    },
  );

  test('wants a wallet for a proof, and for token ids', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    for (const fields of [{ tokenIds: ['7'] }, { proof: { message: 'x', signature: '0x' } }]) {
      const { body } = await enter(acme, id, { attendeeId: 'ann', ...fields }).expect(400);
      expect(body.code).toBe('wallet_required');
    }
  });

  test('wants a proof where the event does', async ({ acme }) => {
    const { id } = await givenEvent(acme, { proofRequired: true });
    const { body } = await enter(acme, id, { attendeeId: 'ann', wallet: newWallet().address }).expect(400);
    expect(body).toMatchObject({ code: 'proof_required', errors: [{ pointer: '/proof' }] });
  });
});

describe('403', () => {
  test('says Wallet is not eligible, and admits nobody', async ({ acme, doors }) => {
    const id = await givenDoor(acme, [await doors.deploy('Listed'), 'membership']);
    const { body } = await enter(acme, id, { attendeeId: 'ann', wallet: newWallet().address }).expect(403);
    expect(body).toMatchObject({ code: 'wallet_not_eligible', detail: 'Wallet is not eligible' });
    expect((await acme.get(attendeesPath(id)).expect(200)).body).toEqual([]);
  });

  test('admits nobody by units that are all alike, with oneAdmissionPerToken', async ({ acme, doors }) => {
    const { address: wallet } = newWallet();
    const coin = await doors.deploy('Coin');
    await doors.send('Coin', coin, 'transfer', wallet, 250);
    const id = await givenDoor(acme, [coin], { oneAdmissionPerToken: true });
    const { body } = await acme.get(eligibilityPath(id, wallet)).expect(200);
    expect(body).toMatchObject({ mayAttend: false, attend: [{ state: 'not_decidable' }] });
    expect(body.attend[0].reason).toContain('are all alike');
    await enter(acme, id, { attendeeId: 'ann', wallet }).expect(403);
  });
});

describe('409', () => {
  test('says so of a user who is registered, and of a full event, without asking any chain', async ({
    acme,
  }) => {
    const unreadable = 'eip155:424242:0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0';
    const { id } = await givenEvent(acme, { maxAttendees: 1, contractRequiredToAttend: [unreadable] });
    await givenAttendees(acme, id, 'ann');
    const wallet = newWallet().address;
    const codeOf = async (attendeeId: string) =>
      (await enter(acme, id, { attendeeId, wallet }).expect(409)).body.code;
    expect(await codeOf('ann')).toBe('attendee_already_invited');
    expect(await codeOf('bob')).toBe('event_full');
  });
});

describe('503', () => {
  test('admits nobody while a network does not answer', async ({ acme }) => {
    const unreadable = 'eip155:424242:0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0';
    const { id } = await givenEvent(acme, { contractRequiredToDiscount: [unreadable] });
    const { body } = await enter(acme, id, { attendeeId: 'ann', wallet: newWallet().address }).expect(503);
    expect(body.code).toBe('eligibility_unavailable');
    expect((await acme.get(attendeesPath(id)).expect(200)).body).toEqual([]);
  });
});
