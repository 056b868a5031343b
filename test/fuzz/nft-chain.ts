import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc, { type Arbitrary } from 'fast-check';
import { caller, type FuzzContext, type Reply } from './fuzz-context.ts';
import { assert, type Property, property } from './property.ts';

type Call = ReturnType<typeof caller>;
type Nft = { readonly id: string; readonly secret: string; readonly claimStatus: string };

/** What is known of an NFT after the steps so far. */
type Model = {
  readonly nft: Nft;
  /** Whether the holder of its secret may claim it: its RWA opted in. */
  readonly isOpen: boolean;
  asked: boolean;
  recipient: string | undefined;
  /** Of the company's key. */
  wrongTries: number;
};

type Step = { readonly name: string; run(call: Call, model: Model): Promise<void> };

const wallets = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'];
const allowedTries = 5;
// It has the form of a secret: other texts are not counted.
const wrongSecret = () => randomBytes(24).toString('base64url');
// A worker may mint at any moment after the mint is accepted.
const accepted = ['queued', 'submitted', 'minted', 'failed'];

function expectOneOf(reply: Reply, expected: readonly string[], what: string): void {
  assert(
    expected.includes(reply.outcome),
    `${what} answered ${reply.outcome} instead of ${expected.join(' or ')}`,
  );
}

const ids = ({ nft }: Model) => ({ nftId: nft.id });

const get: Step = {
  name: 'get',
  async run(call, model) {
    const reply = await call('getNft', { ids: ids(model) });
    expectOneOf(reply, ['200'], 'getNft');
    const { claimStatus, secret, recipient } = reply.json;
    const fitting = model.asked ? accepted : ['unclaimed'];
    assert(fitting.includes(String(claimStatus)), `claimStatus is ${claimStatus}`);
    assert(secret === model.nft.secret, 'the secret has changed');
    const isSame = String(recipient).toLowerCase() === String(model.recipient ?? recipient).toLowerCase();
    assert(isSame, `the recipient is ${recipient} instead of ${model.recipient}`);
  },
};

const mint = (id: 'mintNft' | 'createClaim', recipient: string): Step => ({
  name: `${id} to ${recipient}`,
  async run(call, model) {
    if (id === 'createClaim' && !model.isOpen) return;
    const body = { secret: model.nft.secret, recipient };
    const reply = await call(id, { ids: ids(model), body });
    const isOther = model.asked && model.recipient !== recipient;
    const repeated = isOther ? ['409 nft_already_queued'] : ['200'];
    const open = model.asked ? [...repeated, '409 nft_already_minted'] : ['200'];
    expectOneOf(reply, open, id);
    if (reply.status !== 200 || model.asked) return;
    model.asked = true;
    model.recipient = recipient;
  },
});

const mintTwiceByOneKey: Step = {
  name: 'mint twice by one key',
  async run(call, model) {
    const headers = { 'idempotency-key': randomUUID() };
    const recipient = model.recipient ?? wallets[0];
    const request = { ids: ids(model), body: { secret: model.nft.secret, recipient }, headers };
    const first = await call('mintNft', request);
    if (first.status !== 200) return;
    model.asked = true;
    model.recipient = recipient;
    const second = await call('mintNft', request);
    const isReplayed =
      second.headers['idempotency-replayed'] === 'true' && isDeepStrictEqual(second.json, first.json);
    assert(isReplayed, `the repeated request answered ${second.outcome}, not the first answer`);
  },
};

const guess: Step = {
  name: 'guess the secret',
  async run(call, model) {
    const body = { secret: wrongSecret(), recipient: wallets[0] };
    const reply = await call('mintNft', { ids: ids(model), body });
    expectOneOf(
      reply,
      [model.wrongTries < allowedTries ? '400 secret_invalid' : '429 secret_locked'],
      'mintNft',
    );
    model.wrongTries += 1;
  },
};

const read: Step = {
  name: 'read as its holder',
  async run(call, model) {
    if (!model.isOpen) return;
    const reply = await call('getClaim', { ids: ids(model), body: { secret: model.nft.secret } });
    expectOneOf(reply, ['200'], 'getClaim');
  },
};

/** Guesses without a key do not count for the company. Those of this address count over all NFTs, so it may be over already. */
const guessAsHolder: Step = {
  name: 'guess without a key',
  async run(call, model) {
    if (!model.isOpen) return;
    const reply = await call('getClaim', { ids: ids(model), body: { secret: wrongSecret() } });
    expectOneOf(reply, ['404 claim_not_found', '429 secret_locked'], 'getClaim');
  },
};

const seenByAnother = (key: string): Step => ({
  name: 'look as a stranger',
  async run(call, model) {
    const foreign = ['403 nft_foreign'];
    expectOneOf(await call('getNft', { ids: ids(model), key }), foreign, 'getNft of a stranger');
    const body = { secret: model.nft.secret };
    expectOneOf(await call('mintNft', { ids: ids(model), body, key }), foreign, 'mintNft of a stranger');
  },
});

const listed = (rwaId: string): Step => ({
  name: 'list',
  async run(call, model) {
    const since = encodeURIComponent('2020-01-01');
    const all = await call('listNfts', { ids: { rwaId }, query: `updatedSince=${since}&limit=1` });
    expectOneOf(all, ['200'], 'listNfts');
    assert(Number(all.headers['x-total-count']) > 0, 'X-Total-Count does not count the NFT');
    if (model.asked) return;
    const minted = await call('listRwaNfts', { ids: { rwaId }, query: 'claimed=true&limit=200' });
    const shown = (minted.json as unknown as Nft[]).some(({ id }) => id === model.nft.id); // a list
    assert(!shown, 'an NFT that nobody asked for is listed as claimed');
  },
});

function steps(rwaId: string, otherKey: string | undefined): Arbitrary<Step> {
  return fc.oneof(
    fc.constant(get),
    fc.constantFrom(...wallets).map((wallet) => mint('mintNft', wallet)),
    fc.constantFrom(...wallets).map((wallet) => mint('createClaim', wallet)),
    { weight: 2, arbitrary: fc.constantFrom(guess, guessAsHolder) },
    fc.constant(read),
    fc.constantFrom(mintTwiceByOneKey, listed(rwaId)),
    ...(otherKey === undefined ? [] : [fc.constant(seenByAnother(otherKey))]),
  );
}

/** An NFT is what the requests so far have made of it: issued, guessed at, locked, queued. */
export function nftChain(context: FuzzContext & { readonly mintable: string }): Property {
  const { mintable: rwaId, otherKey } = context;
  const chains = fc.array(steps(rwaId, otherKey), { minLength: 1, maxLength: 10 });
  return property('NFTs in a row', 4, chains, async (prober, all) => {
    const call = caller(context, prober);
    const issued = await call('createRwaNfts', { ids: { rwaId }, body: { count: 1 } });
    expectOneOf(issued, ['200'], 'createRwaNfts');
    const [nft] = issued.json['nfts'] as Nft[]; // as documented
    assert(nft !== undefined, 'no NFT was made');
    const opened = await call('getClaim', { ids: { nftId: nft.id }, body: { secret: nft.secret } });
    const isOpen = opened.status === 200;
    const model: Model = { nft, isOpen, asked: false, recipient: undefined, wrongTries: 0 };
    for (const { run } of all) await run(call, model);
    await get.run(call, model);
  });
}
