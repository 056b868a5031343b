import { describe, expect } from 'vitest';
import { addRwa } from '../rwa/samples.ts';
import {
  addDeadNetwork,
  addLedger,
  type Doors,
  eligibilityPath,
  givenDoor,
  givenHolder,
  newWallet,
  test,
} from './doors.ts';
import { givenEvent, unknownId } from './requests.ts';

const coinsOf = (doors: Doors) => doors.deploy('Coin');

describe('200', () => {
  test('answers standard, balance, block and price of each entry', async ({ acme, doors }) => {
    const { address } = newWallet();
    const [listed, editions, coin] = [
      await doors.deploy('Listed'),
      await doors.deploy('Editions'),
      await coinsOf(doors),
    ];
    await doors.send('Listed', listed, 'mint', address, 7);
    await doors.send('Editions', editions, 'mint', address, 5, 3);
    await doors.send('Coin', coin, 'transfer', address, 250);
    const entries = [
      listed,
      `${listed}/7`,
      `${listed}/8`,
      `eip155:31337:${editions}/5`,
      `${editions}/6`,
      coin,
    ];
    const id = await givenDoor(acme, entries, {
      contractRequiredToDiscount: [coin],
      price: 45.5,
      currency: 'EUR',
      discountPrice: 30,
    });
    const { body } = await acme.get(eligibilityPath(id, address.toLowerCase())).expect(200);
    const block = await doors.provider.getBlock('latest');
    const at = {
      chainId: 31337,
      number: String(block?.number),
      hash: block?.hash,
      time: new Date(Number(block?.timestamp) * 1_000).toISOString(),
    };
    expect(body).toMatchObject({ eventId: id, wallet: address, mayAttend: true, getsDiscount: true });
    expect(body).toMatchObject({ price: 30, currency: 'EUR', blocks: [at] });
    const found = body.attend.map(({ entry, state, standard, balance }: Record<string, string>) => [
      ...[entry, state, standard, balance],
    ]);
    expect(found).toEqual([
      [listed, 'matches', 'ERC721', '1'],
      [`${listed}/7`, 'matches', 'ERC721', '1'],
      [`${listed}/8`, 'does_not_match', 'ERC721', '0'],
      [`eip155:31337:${editions}/5`, 'matches', 'ERC1155', '3'],
      [`${editions}/6`, 'does_not_match', 'ERC1155', '0'],
      [coin, 'matches', 'ERC20', '250'],
    ]);
    expect(body.attend[3]).toEqual({
      entry: `eip155:31337:${editions}/5`,
      state: 'matches',
      reason: null,
      standard: 'ERC1155',
      chainId: 31337,
      contractAddress: editions,
      tokenId: '5',
      balance: '3',
      freeTokenIds: null,
      block: at,
    });
  });

  test('takes a lower-case contract, and a wallet in another case', async ({ acme, doors }) => {
    const { wallet: address, listed } = await givenHolder(doors, 1);
    const id = await givenDoor(acme, [listed.toLowerCase()]);
    const { body } = await acme.get(eligibilityPath(id, address)).expect(200);
    expect(body).toMatchObject({ mayAttend: true, attend: [{ contractAddress: listed }] });
  });

  test('wants every entry with requireAll, and as much as minimumBalance says', async ({ acme, doors }) => {
    const { address } = newWallet();
    const [one, other] = [await doors.deploy('Listed'), await doors.deploy('Listed')];
    await doors.send('Listed', one, 'mint', address, 1);
    await doors.send('Listed', one, 'mint', address, 2);
    await doors.send('Listed', other, 'mint', address, 1);
    const may = async (fields: object) => {
      const id = await givenDoor(acme, [one, other], { contractRequiredToDiscount: [other, one], ...fields });
      const { body } = await acme.get(eligibilityPath(id, address)).expect(200);
      return [body.mayAttend, body.getsDiscount];
    };
    expect(await may({})).toEqual([true, true]);
    expect(await may({ requireAll: true })).toEqual([true, true]);
    expect(await may({ minimumBalance: '2' })).toEqual([true, true]);
    expect(await may({ minimumBalance: '2', requireAll: true })).toEqual([false, false]);
    expect(await may({ minimumBalance: '3' })).toEqual([false, false]);
  });

  test('lets everybody attend an event without entries, at its price', async ({ acme }) => {
    const { id } = await givenEvent(acme, { price: 5, discountPrice: 4 });
    const { body } = await acme.get(eligibilityPath(id, newWallet().address)).expect(200);
    expect(body).toMatchObject({ mayAttend: true, getsDiscount: false, price: 5, attend: [], blocks: [] });
  });

  test.for([
    ['membership', 'no contract address'],
    ['0x9fe46736679d2D9a65F0992F2272dE9f3c7fa6e0', 'wrong EIP-55 checksum'],
    ['eip155:0:0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0', 'chain id of the entry is none'],
    ['cosmos:hub:cosmos1abc', 'no contract address'],
    [`0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0/${'9'.repeat(78)}`, 'above 256 bits'],
    ['0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0/0x1', 'no contract address'],
    [unknownId, 'id of an RWA of your company'],
    ['0x00000000000000000000000000000000000000aa', 'no contract at this address'],
    ['0x0000000000000000000000000000000000000004', 'no contract at this address'],
  ] as const)('reports %s as not decidable, and admits nobody by it', async ([entry, reason], { acme }) => {
    const id = await givenDoor(acme, [entry]);
    const { body } = await acme.get(eligibilityPath(id, newWallet().address)).expect(200);
    expect(body.mayAttend).toBe(false);
    expect(body.attend).toMatchObject([{ entry, state: 'not_decidable', balance: null, block: null }]);
    expect(body.attend[0].reason).toContain(reason);
  });

  test.for([
    ['Yes', '', 'claims to have every interface'],
    ['BareCoin', '', 'no ERC-721, ERC-1155 or ERC-20'],
    ['BareCoin', '/7', 'names no owner'],
    ['Coin', '/7', 'names no owner'],
    ['Editions', '', 'needs a token id'],
    ['HugeBadge', '', 'is no number'],
    ['EndlessBadge', '', 'is no number'],
    ['RevertingBadge', '', 'is no number'],
    ['InvalidOpcodeCoin', '', 'no ERC-721, ERC-1155 or ERC-20'],
  ] as const)('is not misled by a contract like %s%s', async ([name, token, reason], { acme, doors }) => {
    const good = await doors.deploy('Listed');
    const { address } = newWallet();
    await doors.send('Listed', good, 'mint', address, 1);
    const odd = `${await doors.deploy(name)}${token}`;
    const id = await givenDoor(acme, [odd, good]);
    const { body } = await acme.get(eligibilityPath(id, address)).expect(200);
    expect(body.attend).toMatchObject([{ state: 'not_decidable' }, { state: 'matches' }]);
    expect(body.attend[0].reason).toContain(reason);
    expect(body.mayAttend).toBe(true);
  });

  test('counts what a wallet has of an ERC-20 without decimals', async ({ acme, doors }) => {
    const plain = await doors.deploy('PlainCoin');
    const id = await givenDoor(acme, [plain], { minimumBalance: '7' });
    const { body } = await acme.get(eligibilityPath(id, newWallet().address)).expect(200);
    expect(body.attend).toMatchObject([{ state: 'matches', standard: 'ERC20', balance: '7' }]);
  });

  test('takes a token whose contract answers too much for that of nobody', async ({ acme, doors }) => {
    const id = await givenDoor(acme, [`${await doors.deploy('HugeBadge')}/7`]);
    const { body } = await acme.get(eligibilityPath(id, newWallet().address)).expect(200);
    expect(body.attend).toMatchObject([{ state: 'does_not_match', balance: '0' }]);
  });

  test('names no network for an entry without, at an event without', async ({ acme, doors }) => {
    const listed = await doors.deploy('Listed');
    const id = await givenDoor(acme, [listed], { chainId: null });
    const { body } = await acme.get(eligibilityPath(id, newWallet().address)).expect(200);
    expect(body.attend[0].reason).toContain('the event has no chainId');
  });

  test("counts the NFTs of the company's RWA from the ledger, and knows nothing of another company's", async ({
    db,
    service,
    acme,
  }) => {
    const { address } = newWallet();
    const own = await givenOwned(db, acme, service.companies.acme, address);
    const theirs = await givenOwned(db, service.as(service.keys.globex), service.companies.globex, address);
    const id = await givenDoor(acme, [own, theirs]);
    const { body } = await acme.get(eligibilityPath(id, address)).expect(200);
    expect(body.attend).toMatchObject([
      { entry: own, state: 'matches', standard: 'ERC721', balance: '2', block: { number: '41' } },
      { entry: theirs, state: 'not_decidable', balance: null, contractAddress: null },
    ]);
    expect(body.blocks).toMatchObject([{ chainId: 31337, number: '41' }]);
  });

  test('is cached: an answer may be a minute old, as its block says', async ({ acme, doors }) => {
    const { wallet: address, listed } = await givenHolder(doors);
    const id = await givenDoor(acme, [listed]);
    const first = await acme.get(eligibilityPath(id, address)).expect(200);
    await doors.send('Listed', listed, 'mint', address, 1);
    const second = await acme.get(eligibilityPath(id, address)).expect(200);
    expect(second.body).toEqual(first.body);
  });
});

type Db = Parameters<typeof addRwa>[0];

/** An RWA of which a wallet owns two NFTs, as the ledger of its contract says. */
async function givenOwned(
  db: Db,
  client: Parameters<typeof givenDoor>[0],
  companyId: string,
  owner: string,
  caughtUp?: string,
): Promise<string> {
  const { id } = await addRwa(db, companyId);
  await client.post(`/v1/api/rwa/${id}/nfts`).send({ count: 3 }).expect(200);
  await db('nfts').where({ rwa_id: id }).where('serial', '<=', 2).update({ owner });
  await addLedger(db, id, caughtUp);
  return id;
}

describe('400', () => {
  test.for([
    ['', 'wallet_required'],
    ['?wallet=', 'wallet_required'],
    ['?wallet=ann', 'input_invalid'],
    ['?wallet=0x9fe46736679d2D9a65F0992F2272dE9f3c7fa6e0', 'input_invalid'],
    ['?wallet=0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0&limit=5', 'input_invalid'],
  ] as const)('rejects %s', async ([query, code], { acme }) => {
    const { id } = await givenEvent(acme);
    const { body } = await acme.get(`/events/v1/api/event/${id}/eligibility${query}`).expect(400);
    expect(body.code).toBe(code);
    expect(body.errors).toHaveLength(1);
  });
});

describe('503', () => {
  test('when no node answers, and an entry of a chain that answers does not hide it', async ({
    db,
    acme,
    doors,
  }) => {
    const { wallet: address, listed } = await givenHolder(doors, 1);
    await addDeadNetwork(db);
    const id = await givenDoor(acme, [listed, `eip155:31338:${listed}`]);
    await expect
      .poll(async () => (await acme.get(eligibilityPath(id, address))).body.detail)
      .toBe('Eligibility cannot be decided now: no node of the network with chainId 31338 answers');
    const { headers } = await acme.get(eligibilityPath(id, address)).expect(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });

  test('when the owners of an RWA were not read for five minutes', async ({ db, service, acme }) => {
    const { address } = newWallet();
    const late = "clock_timestamp() - interval '301 seconds'";
    const id = await givenDoor(acme, [await givenOwned(db, acme, service.companies.acme, address, late)]);
    const { body } = await acme.get(eligibilityPath(id, address)).expect(503);
    expect(body.detail).toContain('were not read lately');
  });
});
