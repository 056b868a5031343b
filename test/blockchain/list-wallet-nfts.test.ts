import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const path = '/blockchain/v1/api/nft';
const checksum = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const get = (changes: Readonly<Record<string, string>>) => {
  const query = new URLSearchParams({ address: checksum, chainId: '31337', ...changes });
  return service.as(service.keys.noCompany).get(`${path}?${query}`);
};

describe('400', () => {
  it.each([
    [{ address: '' }, 'address_required', 'Address is required'],
    [{ chainId: '' }, 'network_id_required', 'Network ID is required'],
    [{ chainId: '031337' }, 'network_not_found', 'Network with chainId 031337 not found'],
    [{ address: checksum.replace('C51', 'c51') }, 'input_invalid', 'address has a wrong EIP-55 checksum'],
  ])('says what is wrong with %j', async (changes, code, detail) => {
    const { body } = await get(changes).expect(400);
    expect(body).toMatchObject({ code, detail });
  });

  it.each([{ limit: '101' }, { limit: '0' }, { limit: '1e1' }, { order: 'desc' }, { page: '2' }])(
    'refuses %j, naming it',
    async (changes) => {
      const { body } = await get(changes).expect(400);
      expect(body).toMatchObject({
        code: 'input_invalid',
        errors: [{ in: 'query', name: Object.keys(changes)[0] }],
      });
    },
  );
});

describe('501', () => {
  it('says that the operation comes with a later release', async () => {
    const { body } = await get({ limit: '10', order: 'ASC' }).expect(501);
    expect(body.code).toBe('not_implemented');
  });
});
