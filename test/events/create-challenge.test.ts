import { describe, expect } from 'vitest';
import { testWith } from '../support/fixtures.ts';
import { newWallet } from './doors.ts';
import { eventPath, givenEvent } from './requests.ts';

const test = testWith({
  settings: { PROOF_DOMAIN: 'tickets.example', PUBLIC_BASE_URL: 'https://api.example' },
});
const at = (id: string) => `${eventPath}/${id}/challenge`;

describe('200', () => {
  test('answers a text of ERC-4361 with wallet, event, network, a nonce and five minutes', async ({
    acme,
  }) => {
    const { id } = await givenEvent(acme, { chainId: 31337 });
    const { address } = newWallet();
    const { body } = await acme.post(at(id)).send({ wallet: address.toLowerCase() }).expect(200);
    expect(Date.parse(body.expiresAt) - Date.parse(body.issuedAt)).toBe(300_000);
    expect(body.nonce).toMatch(/^[0-9a-f]{32}$/);
    expect(body.message).toBe(`tickets.example wants you to sign in with your Ethereum account:
${address}

Prove that this wallet is yours, to attend an event. This costs nothing.

URI: https://api.example/events/v1/api
Version: 1
Chain ID: 31337
Nonce: ${body.nonce}
Issued At: ${body.issuedAt}
Expiration Time: ${body.expiresAt}
Resources:
- https://api.example/events/v1/api/event/${id}`);
  });

  test('takes the network of the request, and another nonce each time', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const send = () => acme.post(at(id)).send({ wallet: newWallet().address, chainId: 31337 }).expect(200);
    const [one, other] = [await send(), await send()];
    expect(one.body.message).toContain('\nChain ID: 31337\n');
    expect(one.body.nonce).not.toBe(other.body.nonce);
  });

  test('names the host of PUBLIC_BASE_URL without the setting', async ({ service }) => {
    const twin = await service.twin({ PROOF_DOMAIN: '', PUBLIC_BASE_URL: 'https://api.example:8443' });
    const acme = twin.as(twin.keys.acme);
    const { id } = await givenEvent(acme, { chainId: 31337 });
    const { body } = await acme.post(at(id)).send({ wallet: newWallet().address }).expect(200);
    expect(body.message).toMatch(/^api\.example:8443 wants you/);
  });
});

describe('400', () => {
  test.for([
    [{}, 'wallet_required', '/wallet'],
    [{ wallet: '' }, 'wallet_required', '/wallet'],
    [{ wallet: 'ann' }, 'input_invalid', '/wallet'],
    [{ wallet: '0x9fe46736679d2D9a65F0992F2272dE9f3c7fa6e0' }, 'input_invalid', '/wallet'],
    [{ wallet: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0' }, 'input_invalid', '/chainId'],
    [
      { wallet: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0', chainId: 424242 },
      'network_not_found',
      '/chainId',
    ],
  ] as const)('rejects %j at an event without chainId', async ([sent, code, pointer], { acme }) => {
    const { id } = await givenEvent(acme);
    const { body } = await acme.post(at(id)).send(sent).expect(400);
    expect(body).toMatchObject({ code, errors: [{ pointer }] });
  });
});
