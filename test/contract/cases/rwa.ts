import { randomBytes, randomUUID } from 'node:crypto';
import type { Answer } from '../../support/conformance.ts';
import { Unprovoked } from '../session.ts';
import { foreignCursor, reusingKey } from './any-operation.ts';
import { cannot, type Provocations, type Provoke, type Trial, writing } from './case.ts';

const wallets = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'];
const reserved = `0x${'1'.padStart(40, '0')}`;
const tries = 6;

const nested = (depth: number): object => (depth === 0 ? {} : { deeper: nested(depth - 1) });

/** The operation on an RWA that is there, with a query. */
const onRwa =
  (query?: string): Provoke =>
  async ({ session, facts, id }) => {
    const ids = { rwaId: (await facts.anyRwa()).id };
    return session.call(id, query === undefined ? { ids } : { ids, query });
  };

/** The operation on an RWA of which an NFT is minted, with a query. */
const onMintedRwa =
  (query?: string, body?: object): Provoke =>
  async ({ session, facts, id }) => {
    const ids = { rwaId: (await facts.mintedNft()).rwaId };
    const answer = await session.call(id, { ids, ...(query && { query }), ...(body && { body }) });
    if (!answer.text.includes('"owners_unread"')) return answer;
    throw new Unprovoked('no worker has read the owners of the RWA');
  };

/** The operation on a new snapshot, whose block is not final yet. */
const ofPending = (headers: Readonly<Record<string, string>>): Provoke =>
  writing(async ({ session, facts, id }) => {
    const ids = { rwaId: (await facts.mintedNft()).rwaId };
    const create = () => session.ask<{ id: string }>('createSnapshot', { ids, body: {} });
    // The same block is the same snapshot, which may be taken by now. A new one is pending until the next poll.
    const { id: earlier } = await create();
    await session.call('deleteSnapshot', { ids: { snapshotId: earlier } });
    const { id: snapshotId } = await create();
    const answer = await session.call(id, { ids: { snapshotId }, headers });
    if (answer.status === 409) return answer;
    throw new Unprovoked('the block of the snapshot is final already');
  });

/** An answer to a mint, unless the network is one without minting: that is no fault of the deployment. */
const unlessUnsupported = (answer: Answer): Answer => {
  if (!/"(minting_unsupported|contract_unmintable)"/.test(answer.text)) return answer;
  throw new Unprovoked('nothing mints on the network of the RWA: needs another --chain');
};

/** A new NFT of a claimable RWA. */
const newNft = async ({ facts }: Trial) => facts.newNft((await facts.mintableRwa()).id);

const mint = async ({ session }: Trial, nft: { id: string; secret: string | null }, recipient?: string) => {
  const body = { secret: nft.secret, ...(recipient && { recipient }) };
  return unlessUnsupported(await session.call('mintNft', { ids: { nftId: nft.id }, body }));
};

const refusedBody =
  (body: object): Provoke =>
  ({ session, id }) =>
    session.call(id, { body });

const queuedTwice: Provoke = writing(async (trial) => {
  const nft = await newNft(trial);
  const first = await mint(trial, nft, wallets[0]);
  if (first.status !== 200) throw new Unprovoked(`the first mint was answered ${first.status}`);
  const second = await mint(trial, nft, wallets[1]);
  if (second.text.includes('nft_already_minted'))
    throw new Unprovoked('the NFT was minted before it was asked for again');
  return second;
});

const lockedOut: Provoke = writing(async (trial) => {
  const nft = await newNft(trial);
  const wrong = { ...nft, secret: randomBytes(24).toString('base64url') };
  for (let tried = 1; tried < tries; tried += 1) await mint(trial, wrong);
  return mint(trial, wrong);
});

/** An NFT of an RWA that is not claimable, with its right secret. */
const mintOfUnclaimable: Provoke = writing(async (trial) =>
  mint(trial, await trial.facts.newNft((await trial.facts.unclaimableRwa()).id)),
);

const nobody = `0x${'1'.repeat(40)}`;

const rwaBody = async (facts: Trial['facts']) => ({
  name: 'Contract test, to be archived',
  type: 'whisky',
  chainId: Number(await facts.chainId()),
});

const newRwa: Provoke = writing(async ({ session, facts, id }) =>
  session.call(id, { body: await rwaBody(facts) }),
);

/** A change of a new RWA. */
const onNewRwa = (body: object): Provoke =>
  writing(async ({ session, id }) =>
    session.call(id, { ids: { rwaId: (await session.makeRwa()).id }, body }),
  );

/** A change of nothing, with a header made from the tag of the record that is read by `read`. */
const onTag =
  (read: 'getRwa' | 'getNft', ifMatch: (etag: string) => string): Provoke =>
  async ({ session, facts, id }) => {
    const ids =
      read === 'getRwa' ? { rwaId: (await facts.anyRwa()).id } : { nftId: (await facts.unclaimedNft()).id };
    const { headers } = await session.call(read, { ids });
    return session.call(id, { ids, body: {}, headers: { 'if-match': ifMatch(String(headers['etag'])) } });
  };

export const rwaCases: Provocations = {
  'listRwas cursor_invalid': ({ session, id }) => session.call(id, { query: foreignCursor }),
  'listNfts cursor_invalid': ({ session, id }) => session.call(id, { query: foreignCursor }),
  'listRwaNfts cursor_invalid': onRwa(foreignCursor),
  'listRwas rwas': ({ session, id }) => session.call(id, { query: 'limit=5' }),
  'listRwas none': ({ session, id }) => session.call(id, { query: `type=${randomUUID()}` }),
  'getRwa rwa': onRwa(),
  'listRwaNfts nfts': onRwa('limit=5'),
  'listRwaNfts none': onRwa('updatedSince=9999-12-31'),
  'createRwa rwa': newRwa,
  type_required: refusedBody({ name: 'Cask 18', chainId: 1 }),
  'createRwa currency_needed': async ({ session, facts, id }) =>
    session.call(id, { body: { ...(await rwaBody(facts)), price: '5.00' } }),
  'createRwa contract_missing': async ({ session, facts, id }) =>
    session.call(id, { body: { ...(await rwaBody(facts)), contractAddress: nobody } }),
  'createRwa rwa_network_not_found': refusedBody({ name: 'Cask 18', type: 'whisky', chainId: 424242 }),
  'createRwa idempotency_key_reused': reusingKey(async ({ facts }) => ({
    ids: {},
    first: await rwaBody(facts),
    second: { ...(await rwaBody(facts)), name: 'Other' },
  })),
  contract_taken: cannot('needs a contract of another company'),
  'updateRwa rwa': onNewRwa({ description: 'Changed' }),
  'updateRwa currency_needed': onNewRwa({ currency: null }),
  'updateRwa contract_missing': onNewRwa({ contractAddress: nobody }),
  'updateRwa rwa_network_not_found': onNewRwa({ chainId: 424242 }),
  contract_fixed: async ({ session, facts, id }) =>
    session.call(id, {
      ids: { rwaId: (await facts.unclaimedNft()).rwaId },
      body: { contractAddress: nobody },
    }),
  'updateRwa precondition_failed': onTag('getRwa', () => '"5f8Zc0kqk0Jt6vEq"'),
  'updateRwa etag_weakened': onTag('getRwa', (etag) => `W/${etag}`),
  'updateRwa idempotency_key_reused': reusingKey(async ({ session }) => ({
    ids: { rwaId: (await session.makeRwa()).id },
    first: { description: 'One' },
    second: { description: 'Two' },
  })),
  'updateNft nft_unclaimed': writing(async (trial) =>
    trial.session.call(trial.id, {
      ids: { nftId: (await newNft(trial)).id },
      body: { data: { cellar: 4 } },
    }),
  ),
  attribute_reserved: refusedBody({ attributes: [{ trait_type: 'Issuer', value: 'Somebody' }] }),
  'updateNft precondition_failed': onTag('getNft', () => '"5f8Zc0kqk0Jt6vEq"'),
  'updateNft etag_weakened': onTag('getNft', (etag) => `W/${etag}`),
  'updateNft idempotency_key_reused': reusingKey(async (trial) => ({
    ids: { nftId: (await newNft(trial)).id },
    first: { data: { cellar: 4 } },
    second: { data: { cellar: 5 } },
  })),
  claimed_not_boolean: ({ session, id }) => session.call(id, { query: 'claimed=yes' }),
  rwa_id_malformed: ({ session, id }) => session.call(id, { path: '/v1/api/nft?rwaId=42' }),

  'createRwaNfts nfts_created': writing(async ({ session, facts, id }) =>
    session.call(id, { ids: { rwaId: (await facts.anyRwa()).id }, body: { count: 1 } }),
  ),
  count_required: refusedBody({}),
  count_too_high: refusedBody({ count: 101 }),
  'createRwaNfts idempotency_key_reused': reusingKey(async ({ facts }) => ({
    ids: { rwaId: (await facts.anyRwa()).id },
    first: { count: 1 },
    second: { count: 2 },
  })),

  'createAndMintNft mint_accepted': writing(async ({ session, facts, id }) => {
    const ids = { rwaId: (await facts.mintableRwa()).id };
    return unlessUnsupported(await session.call(id, { ids, body: { recipient: wallets[0] } }));
  }),
  'createAndMintNft recipient_malformed': refusedBody({ recipient: '0x123' }),
  'createAndMintNft recipient_zero': refusedBody({ recipient: `0x${'0'.repeat(40)}` }),
  'createAndMintNft recipient_unusable': writing(async ({ session, facts, id }) => {
    const ids = { rwaId: (await facts.mintableRwa()).id };
    return unlessUnsupported(await session.call(id, { ids, body: { recipient: reserved } }));
  }),
  data_too_deep: refusedBody({ data: nested(21) }),
  'createAndMintNft rwa_not_claimable': writing(async ({ session, facts, id }) =>
    session.call(id, { ids: { rwaId: (await facts.unclaimableRwa()).id }, body: { recipient: wallets[0] } }),
  ),
  'createAndMintNft idempotency_key_reused': reusingKey(async ({ facts }) => ({
    ids: { rwaId: (await facts.mintableRwa()).id },
    first: { recipient: wallets[0] },
    second: { recipient: wallets[1] },
  })),

  'listNfts nfts_with_rwa': ({ session, id }) => session.call(id, { path: '/v1/api/nft?limit=5' }),
  'listNfts none': ({ session, id }) => session.call(id),
  'getNft nft_minted': async ({ session, facts, id }) =>
    session.call(id, { ids: { nftId: (await facts.mintedNft()).id } }),
  'getNft nft_unclaimed': async ({ session, facts, id }) =>
    session.call(id, { ids: { nftId: (await facts.unclaimedNft()).id } }),
  nft_foreign: async ({ session, facts, id }) =>
    session.call(id, { ids: { nftId: (await facts.foreignNft()).id } }),

  'mintNft mint_accepted': writing(async (trial) => mint(trial, await newNft(trial), wallets[0])),
  secret_required: refusedBody({}),
  secret_invalid: writing(async (trial) => mint(trial, { ...(await newNft(trial)), secret: 'wrong' })),
  secret_locked: lockedOut,
  'mintNft recipient_malformed': refusedBody({ secret: 'none', recipient: '0x123' }),
  'mintNft recipient_zero': refusedBody({ secret: 'none', recipient: `0x${'0'.repeat(40)}` }),
  'mintNft recipient_unusable': writing(async (trial) => mint(trial, await newNft(trial), reserved)),
  'mintNft rwa_not_claimable': mintOfUnclaimable,
  nft_already_minted: writing(async (trial) => mint(trial, await trial.facts.mintedNft(), wallets[0])),
  nft_already_queued: queuedTwice,
  'mintNft idempotency_key_reused': reusingKey(async (trial) => {
    const { id, secret } = await newNft(trial);
    const first = { secret, recipient: wallets[0] };
    return { ids: { nftId: id }, first, second: { ...first, recipient: wallets[1] } };
  }),
  recipient_required: cannot('needs a company without a treasury'),
  mint_quota_exceeded: cannot('needs a company that the operator has limited'),
  rwa_archived: cannot('needs an RWA that the operator has archived'),
  minting_unsupported: cannot('needs a claimable RWA on a network without minting'),
  contract_unmintable: cannot('needs a claimable RWA whose contract is none that mints'),

  claim_gone: ({ session, id }) => session.call(id),

  'listNftTransfers nft_transfers': async ({ session, facts, id }) =>
    session.call(id, { ids: { nftId: (await facts.mintedNft()).id } }),
  'listNftTransfers none': async ({ session, facts, id }) =>
    session.call(id, { ids: { nftId: (await facts.unclaimedNft()).id } }),
  'listNftTransfers cursor_invalid': async ({ session, facts, id }) =>
    session.call(id, { ids: { nftId: (await facts.unclaimedNft()).id }, query: foreignCursor }),
  owner_malformed: ({ session, id }) => session.call(id, { path: '/v1/api/nft?owner=0x1' }),
  'listRwaHolders holders': onMintedRwa(),
  'listRwaHolders cursor_invalid': onMintedRwa(foreignCursor),
  as_of_malformed: onRwa('asOf=yesterday'),
  as_of_not_read: onMintedRwa('asOf=999999999999'),
  'createSnapshot snapshot_accepted': writing(onMintedRwa(undefined, {})),
  'deleteSnapshot 204': writing(async ({ session, facts, id }) => {
    const ids = { rwaId: (await facts.mintedNft()).rwaId };
    const { id: snapshotId } = await session.ask<{ id: string }>('createSnapshot', { ids, body: {} });
    return session.call(id, { ids: { snapshotId } });
  }),
  too_many_pending_snapshots: cannot('needs five snapshots whose blocks are not final'),
  snapshot_holders_full: cannot('needs snapshots with very many holders'),
  snapshot_as_of_not_read: onMintedRwa(undefined, { asOf: '999999999999' }),
  'createSnapshot idempotency_key_reused': reusingKey(async ({ facts }) => ({
    ids: { rwaId: (await facts.mintedNft()).rwaId },
    first: {},
    second: { asOf: '1' },
  })),
  'getSnapshot snapshot_taken': cannot('needs a snapshot whose block is final'),
  'getSnapshotProof snapshot_proof': cannot('needs a snapshot whose block is final'),
  wallet_malformed: ({ session, id }) =>
    session.call(id, { path: `/v1/api/snapshot/${randomUUID()}/proof?wallet=0x1` }),
  owners_unread: cannot('needs an RWA whose contract was not read yet'),
  holder_not_found: cannot('needs a snapshot whose block is final'),
  'getSnapshot snapshot_pending': ofPending({ accept: 'text/csv' }),
  'getSnapshotProof snapshot_pending': ofPending({}),
  holders_differ: cannot('needs an RWA with a burned token'),

  'getTokenMetadata token_metadata': async ({ session, facts, id }) => {
    const { rwa, tokenId } = await facts.mintedNft();
    if (rwa.contractAddress === null) throw new Unprovoked('the RWA of the minted NFT has no contract');
    const token = `${rwa.chainId}/${rwa.contractAddress}/${tokenId}`;
    return session.call(id, { ids: { token }, key: null });
  },
  token_id_malformed: ({ session, id }) =>
    session.call(id, { ids: { token: '1/0x5FbDB2315678afecb367f032d93F642f64180aa3/0x1' } }),
};
