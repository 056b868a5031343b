import { AbiCoder, concat, type HDNodeWallet, Interface, Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import { purgeChallenges } from '../../src/events/eligibility/challenge-store.ts';
import type { Client } from '../support/service.ts';
import { addDeadNetwork, attendeesPath, type Doors, enter, givenDoor, newWallet, test } from './doors.ts';
import { eventPath, givenEvent } from './requests.ts';

type Sign = (text: string) => Promise<string>;

async function challenge(client: Client, id: string, wallet: string): Promise<string> {
  const { body } = await client.post(`${eventPath}/${id}/challenge`).send({ wallet }).expect(200);
  return body.message;
}

/** Adds an attendee with a challenge that the wallet signs. */
async function prove(client: Client, id: string, wallet: string, sign: Sign, attendeeId = 'ann') {
  const message = await challenge(client, id, wallet);
  return enter(client, id, { attendeeId, wallet, proof: { message, signature: await sign(message) } });
}

const proven = { chainId: 31337, proofRequired: true };
const signedBy =
  (key: HDNodeWallet): Sign =>
  (text) =>
    key.signMessage(text);
const reasonOf = ({ body }: { body: { detail: string } }) => body.detail.replace('Proof is invalid: ', '');

const factoryAbi = new Interface(['function make(address) returns (address)']);
const suffix = `0x${'6492'.repeat(16)}`;

/** A signature of a wallet that its factory has not made yet, as ERC-6492 wants it. */
const undeployed =
  (factory: string, owner: HDNodeWallet): Sign =>
  async (text) => {
    const make = factoryAbi.encodeFunctionData('make', [owner.address]);
    const parts = [factory, make, await owner.signMessage(text)];
    return concat([AbiCoder.defaultAbiCoder().encode(['address', 'bytes', 'bytes'], parts), suffix]);
  };

/** An account that delegates its code to a wallet contract (EIP-7702), whose owner is another key. */
async function delegated({ deploy, send, provider }: Doors, owner: string): Promise<Wallet> {
  const account = new Wallet(Wallet.createRandom().privateKey, provider);
  await provider.send('anvil_setBalance', [account.address, '0x56bc75e2d63100000']);
  const authorization = await account.authorize({
    address: await deploy('DoorWallet'),
    nonce: 1,
    chainId: 31337,
  });
  const sent = await account.sendTransaction({
    type: 4,
    to: account.address,
    nonce: 0,
    authorizationList: [authorization],
    gasLimit: 200_000,
  });
  await sent.wait();
  expect(await provider.getCode(account.address)).toMatch(/^0xef0100/);
  await send('DoorWallet', account.address, 'setOwner', owner);
  return account;
}

describe('a wallet of each kind is admitted with its proof:', () => {
  test('an account', async ({ acme }) => {
    const { id } = await givenEvent(acme, proven);
    const key = newWallet();
    const { status, body } = await prove(acme, id, key.address, signedBy(key));
    expect([status, body.wallet]).toEqual([201, key.address]);
  });

  test('a contract (ERC-1271)', async ({ acme, doors }) => {
    const { id } = await givenEvent(acme, proven);
    const [owner, stranger] = [newWallet(), newWallet()];
    const wallet = await doors.deploy('DoorWallet');
    await doors.send('DoorWallet', wallet, 'setOwner', owner.address);
    expect(reasonOf(await prove(acme, id, wallet, signedBy(stranger)))).toBe(
      'the signature is not that of the wallet',
    );
    expect((await prove(acme, id, wallet, signedBy(owner))).status).toBe(201);
  });

  test('a contract that is not deployed yet (ERC-6492), and after it is', async ({ acme, doors }) => {
    const { id } = await givenEvent(acme, proven);
    const [owner, stranger] = [newWallet(), newWallet()];
    const factory = await doors.deploy('DoorWallets');
    const wallet = await doors.call('DoorWallets', factory, 'addressOf', owner.address);
    // Its factory makes the wallet of the stranger, at another address.
    expect((await prove(acme, id, wallet, undeployed(factory, stranger))).status).toBe(400);
    expect((await prove(acme, id, wallet, signedBy(owner))).status).toBe(400);
    expect((await prove(acme, id, wallet, undeployed(factory, owner))).status).toBe(201);
    expect(await doors.provider.getCode(wallet)).toBe('0x');
    await doors.send('DoorWallets', factory, 'make', owner.address);
    expect((await prove(acme, id, wallet, undeployed(factory, owner), 'bob')).status).toBe(201);
    expect((await prove(acme, id, wallet, signedBy(owner), 'eve')).status).toBe(201);
  });

  test('an account that delegates its code (EIP-7702): by its key, and by its code', async ({
    acme,
    doors,
  }) => {
    const { id } = await givenEvent(acme, proven);
    const [owner, stranger] = [newWallet(), newWallet()];
    const account = await delegated(doors, owner.address);
    const byKey = await prove(acme, id, account.address, (text) => account.signMessage(text));
    expect(byKey.status).toBe(201);
    expect((await prove(acme, id, account.address, signedBy(stranger), 'bob')).status).toBe(400);
    expect((await prove(acme, id, account.address, signedBy(owner), 'bob')).status).toBe(201);
  });

  test('with what the event requires of it', async ({ acme, doors }) => {
    const key = newWallet();
    const listed = await doors.deploy('Listed');
    const id = await givenDoor(acme, [listed], { proofRequired: true });
    const { status, body } = await prove(acme, id, key.address, signedBy(key));
    expect([status, body.detail]).toEqual([403, 'Wallet is not eligible']);
  });
});

describe('a proof is rejected', () => {
  test('of another domain, with words changed, or with a text of its own', async ({ acme }) => {
    const { id } = await givenEvent(acme, proven);
    const key = newWallet();
    const message = await challenge(acme, id, key.address);
    const rejected = async (text: string) => {
      const proof = { message: text, signature: await key.signMessage(text) };
      return reasonOf(await enter(acme, id, { attendeeId: 'ann', wallet: key.address, proof }).expect(400));
    };
    const differs = 'the text differs from the challenge';
    expect(await rejected(message.replace(/^\S+/, 'evil.example'))).toBe(differs);
    expect(await rejected(`${message}\n- https://evil.example`)).toBe(differs);
    expect(await rejected(message.replace('Chain ID: 31337', 'Chain ID: 1'))).toBe(differs);
    expect(await rejected('Hello')).toBe('the text names no nonce of a challenge');
    const unknown = message.replace(/Nonce: .{32}/, `Nonce: ${'0'.repeat(32)}`);
    expect(await rejected(unknown)).toBe('the challenge is unknown, or was used');
    // What was rejected has not used the challenge up.
    const proof = { message, signature: await key.signMessage(message) };
    await enter(acme, id, { attendeeId: 'ann', wallet: key.address, proof }).expect(201);
  });

  test('for another event, another wallet, or of another company', async ({ service, acme }) => {
    const [one, other] = [await givenEvent(acme, proven), await givenEvent(acme, proven)];
    const [key, stranger] = [newWallet(), newWallet()];
    const message = await challenge(acme, one.id, key.address);
    const proof = { message, signature: await key.signMessage(message) };
    const send = (client: Client, id: string, wallet: string) =>
      enter(client, id, { attendeeId: 'ann', wallet, proof }).expect(400);
    expect(reasonOf(await send(acme, other.id, key.address))).toBe('the challenge is for another event');
    expect(reasonOf(await send(acme, one.id, stranger.address))).toBe('the challenge is for another wallet');
    const globex = service.as(service.keys.globex);
    const theirs = await givenEvent(globex, proven);
    expect(reasonOf(await send(globex, theirs.id, key.address))).toBe(
      'the challenge is unknown, or was used',
    );
  });

  test('when its nonce was used, also by two at once', async ({ acme }) => {
    const { id } = await givenEvent(acme, proven);
    const key = newWallet();
    const message = await challenge(acme, id, key.address);
    const proof = { message, signature: await key.signMessage(message) };
    const send = (attendeeId: string) => enter(acme, id, { attendeeId, wallet: key.address, proof });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => send(`guest ${n}`)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect([answer.status, reasonOf(answer)]).toEqual([400, 'the challenge is unknown, or was used']);
    await acme.delete(`${attendeesPath(id)}/guest 0`);
    expect(reasonOf(await send('late').expect(400))).toBe('the challenge is unknown, or was used');
  });

  test('when it has expired, of which a worker deletes what is older than an hour', async ({ db, acme }) => {
    const { id } = await givenEvent(acme, proven);
    const key = newWallet();
    const message = await challenge(acme, id, key.address);
    // The text names its times, so the row gets older by changing what the text is made of, too.
    await db('event_challenges')
      .where({ event_id: id })
      .update({
        issued_at: db.raw("issued_at - interval '301 seconds'"),
        expires_at: db.raw("expires_at - interval '301 seconds'"),
      });
    const earlier = (text: string, name: string) =>
      text.replace(new RegExp(`${name}: (.*)`), (_, time: string) => {
        return `${name}: ${new Date(Date.parse(time) - 301_000).toISOString()}`;
      });
    const old = earlier(earlier(message, 'Issued At'), 'Expiration Time');
    const proof = { message: old, signature: await key.signMessage(old) };
    const body = { attendeeId: 'ann', wallet: key.address, proof };
    expect(reasonOf(await enter(acme, id, body).expect(400))).toBe('the challenge has expired');
    expect(await purgeChallenges(db, 5)).toBe(0);
    await db('event_challenges')
      .where({ event_id: id })
      .update({ expires_at: db.raw("now() - interval '2 hours'") });
    expect(await purgeChallenges(db, 5)).toBe(1);
  });

  test.for([
    ['nothing', '0x'],
    ['a byte', '0x00'],
    ['zeros', `0x${'00'.repeat(65)}`],
    ['the magic value', `0x1626ba7e${'00'.repeat(28)}`],
    ['an ERC-6492 without content', suffix],
    ['an ERC-6492 of nonsense', `0x${'ff'.repeat(96)}${suffix.slice(2)}`],
  ] as const)(
    'with %s for a signature, of an account and of a contract',
    async ([_, signature], { acme, doors }) => {
      const { id } = await givenEvent(acme, proven);
      const wallet = await doors.deploy('DoorWallet');
      for (const address of [newWallet().address, wallet, await doors.deploy('Listed')])
        expect((await prove(acme, id, address, async () => signature)).status).toBe(400);
    },
  );

  test('of a precompiled contract, which answers with what it is asked', async ({ acme }) => {
    const { id } = await givenEvent(acme, proven);
    const wallet = '0x0000000000000000000000000000000000000004';
    const lies = concat([
      AbiCoder.defaultAbiCoder().encode(['address', 'bytes', 'bytes'], [wallet, '0x', '0x']),
      suffix,
    ]);
    expect((await prove(acme, id, wallet, async () => '0x')).status).toBe(400);
    expect((await prove(acme, id, wallet, async () => lies)).status).toBe(400);
  });

  test('also where the event requires none', async ({ acme }) => {
    const { id } = await givenEvent(acme, { chainId: 31337 });
    const [key, stranger] = [newWallet(), newWallet()];
    expect((await prove(acme, id, key.address, signedBy(stranger))).status).toBe(400);
    expect((await prove(acme, id, key.address, signedBy(key))).status).toBe(201);
  });
});

test('the proof of a contract is 503 while its network does not answer', async ({ db, acme }) => {
  await addDeadNetwork(db);
  const [key, wallet] = [newWallet(), newWallet().address];
  const body = { name: 'Fair', chainId: 31338, proofRequired: true };
  // A process hears of a new network after a moment.
  await expect.poll(async () => (await acme.post(eventPath).send(body)).status).toBe(201);
  const { id } = await givenEvent(acme, body);
  const answer = await prove(acme, id, wallet, signedBy(key));
  expect([answer.status, answer.body.code]).toEqual([503, 'eligibility_unavailable']);
  // A key needs no network.
  expect((await prove(acme, id, key.address, signedBy(key))).status).toBe(201);
});
