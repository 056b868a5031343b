import { describe, expect, test } from 'vitest';
import { claimUrl } from '../../src/rwa/assets/claim-url.ts';

const id = 'd4c2f6aa-90f5-4f5e-8b1f-6b0a2b9c3e44';

describe('a claim url', () => {
  test.each([
    ['https://claim.example', `https://claim.example/${id}#s-3_x`],
    ['https://claim.example/', `https://claim.example/${id}#s-3_x`],
    ['https://claim.example/a/b//', `https://claim.example/a/b/${id}#s-3_x`],
    ['https://claim.example/a?lang=de&x=%20', `https://claim.example/a/${id}?lang=de&x=%20#s-3_x`],
    ['https://claim.example/a/?lang=de', `https://claim.example/a/${id}?lang=de#s-3_x`],
    ['https://claim.example/a#old', `https://claim.example/a/${id}#s-3_x`],
    ['http://localhost:3000/claim', `http://localhost:3000/claim/${id}#s-3_x`],
  ])('on the base %s has the id in the path and the secret in the fragment only', (base, expected) => {
    expect(claimUrl(base, id, 's-3_x')).toBe(expected);
  });
});
