import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createClaimSecretVault } from '../../../src/rwa/assets/claim-secret.ts';
import { type LinkModule, pageModule } from '../page-modules.ts';

const { readLink } = (await pageModule('claim/link.js')) as LinkModule;
const nftId = '14036fb4-2851-4d88-98bf-08882136fb9a';
const secret = 'LQbaGr50OBna4mx0QR5VjJvTes9Qn7ob';
const read = (hash: string, pathname = `/claim/${nftId}`) => readLink({ pathname, hash });

describe('the link on a thing', () => {
  test('gives every secret that the service makes', () => {
    const vault = createClaimSecretVault(new Map([['one', randomBytes(32)]]));
    for (let n = 0; n < 1_000; n += 1) {
      const made = vault.generate();
      for (const after of ['', '.', ' next', '%0A']) expect(read(`#${made}${after}`).secret).toBe(made);
    }
  });

  test.each([
    ...'.),;:!?>"\'*_-| \n/%。，」»”…؟।',
    ...['&x=1', '#again', ')_', '&quot;', ' and more text', `.${'x'.repeat(32)}`],
    ...['%0A', '%0D%0A', '%20', '%22', '%3E', '%C2%A0', '%E2%80%8B', '%E2%80%9D', '%zz', '%FF'],
  ])('works with "%s" after the secret', (after) => {
    expect(read(`#${secret}${after}`)).toEqual({ nftId, secret });
  });

  test.each([
    ['quotes around it', `#%22${secret}%22`],
    ['a space before it', `#%20${secret}`],
    ['a line break inside', `#${secret.slice(0, 9)}%0A${secret.slice(9)}`],
    ['invisible characters inside', `#${secret.slice(0, 9)}%E2%80%8B%C2%AD${secret.slice(9)}`],
    ['a letter that was encoded', `#%4C${secret.slice(1)}`],
  ])('works with %s', (_, hash) => {
    expect(read(hash)).toEqual({ nftId, secret });
  });

  test.each([
    '',
    '#',
    '#x',
    `#${secret.slice(1)}`,
    `#${secret}x`,
    '#wrong',
    `#${nftId}`,
    '#%',
    `#${'é'.repeat(32)}`,
  ])('gives no secret for "%s"', (hash) => {
    expect(read(hash)).toEqual({});
  });

  test('without the id of an NFT is none, and the address of the page alone is that', () => {
    expect(read(`#${secret}`, '/claim/cut')).toEqual({});
    expect(read('', '/claim')).toEqual({ isBare: true });
    expect(read('', '/claim/')).toEqual({ isBare: true });
  });
});
