import { afterEach, describe, expect } from 'vitest';
import { addCompany, addNetwork, addNft, addNfts, addRwa, recipient, vaultOf } from '../rwa/samples.ts';
import { perFile } from '../support/fixtures.ts';
import { type MintChain, startMintChain } from '../support/minting.ts';
import { waitFor } from '../support/wait-for.ts';
import { test as base } from './fixtures.ts';

// The first account of the local chain, which mints by hand here.
const ours = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const other = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const test = base.extend('mints', perFile, async ({ db }, { onCleanup }) => {
  const mints = await startMintChain();
  onCleanup(() => mints.close());
  await addNetwork(db, mints.chainId, mints.rpcUrl);
  await db('networks').update({ finality_depth: 2 });
  await db('mint_lanes').insert({ chain_id: 31337, signer: ours });
  await addCompany(db, 'acme');
  return mints;
});

type Db = Parameters<typeof addRwa>[0];

/** NFTs of a new RWA, as they are when nobody has asked to mint them. */
const issue = async (db: Db, mints: MintChain, count: number) =>
  addNfts(db, vaultOf(['a']), await addRwa(db, 'acme', { contractAddress: mints.contract }), count);

/** Mints a token by hand and tells its row, as the service does. */
const mintTruly = async (db: Db, mints: MintChain, nft: { id: string; tokenId: string; rwaId: string }) => {
  await mints.mintByHand(recipient, nft.tokenId);
  const minted = async () => (await mints.mints()).get(nft.tokenId);
  // The chain gives the hash a moment before it has the block.
  const [mint] = await waitFor(async () => (await minted()) ?? Promise.reject(new Error('not mined')));
  const block = await mints.call<{ timestamp: string }>(
    'eth_getBlockByNumber',
    `0x${Number(mint?.block).toString(16)}`,
    false,
  );
  await db('nfts')
    .where({ id: nft.id })
    .update({
      mint_state: 'minted',
      recipient,
      minted_tx: mint?.hash,
      minted_block: mint?.block,
      minted_at: new Date(Number(block.timestamp) * 1_000),
    });
  await db('rwas').where({ id: nft.rwaId }).increment('claimed_nfts');
};

const tokenOf = (rwaNumber: bigint, serial: bigint) => ((rwaNumber << 64n) + serial).toString();

describe('mint verify', () => {
  afterEach<{ db: Db }>(async ({ db }) => {
    await db('mint_lanes').update({ signer: ours });
  });

  test('finds nothing where every row agrees with the chain, with exit status 0', async ({
    db,
    mints,
    json,
  }) => {
    for (const nft of await issue(db, mints, 3)) await mintTruly(db, mints, nft);
    await mints.mine(5);
    const { status, value, notes } = await json('mint', 'verify');
    expect({ status, value }).toEqual({
      status: 0,
      value: { networks: 1, tokens: 3, disagreeing: 0, findings: [] },
    });
    expect(notes).toContain('All rows agree with the chain.');
  });

  test('finds each way in which a row and the chain disagree, with exit status 1', async ({
    db,
    mints,
    json,
  }) => {
    const [noToken, elsewhere, given, behind, swapped] = await issue(db, mints, 5);
    if (!noToken || !elsewhere || !given || !behind || !swapped) throw new Error('too few');
    for (const nft of [elsewhere, given, swapped]) await mintTruly(db, mints, nft);
    await mints.mintByHand(recipient, behind.tokenId);
    const nobodys = tokenOf(behind.rwaNumber, 70n);
    const noAsset = tokenOf(behind.rwaNumber + 1_000n, 1n);
    await mints.mintByHand(recipient, nobodys);
    await mints.mintByHand(recipient, noAsset);
    // An id that no NFT can have is none of ours.
    await mints.mintByHand(recipient, '17');
    await mints.mine(5);
    await db('nfts')
      .where({ id: noToken.id })
      .update({ mint_state: 'minted', minted_at: new Date(), minted_tx: '0x1', minted_block: 3, recipient });
    await db('nfts')
      .where({ id: elsewhere.id })
      .update({ minted_tx: `0x${'12'.repeat(32)}` });
    await db('nfts').where({ id: swapped.id }).update({ minted_block: 4 });
    await db('nfts').where({ id: given.id }).update({ recipient: other });

    const { status, value } = await json('mint', 'verify', '--chain', '31337');
    const kinds = new Map(
      value.findings.map((found: { tokenId: string; kind: string }) => [found.tokenId, found.kind]),
    );
    expect(status).toBe(1);
    expect(kinds).toEqual(
      new Map([
        [noToken.tokenId, 'no_token'],
        [elsewhere.tokenId, 'other_transaction'],
        [swapped.tokenId, 'other_transaction'],
        [given.tokenId, 'other_recipient'],
        [behind.tokenId, 'not_recorded'],
        [nobodys, 'no_row'],
        [noAsset, 'unknown_asset'],
      ]),
    );
  });

  test('tells tokens of somebody else from lost ones of ours', async ({ db, json }) => {
    await db('mint_lanes').update({ signer: other });
    const { value } = await json('mint', 'verify');
    const kinds = value.findings.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toContain('foreign');
    expect(kinds).not.toContain('no_row');
    expect(kinds).not.toContain('unknown_asset');
  });

  test('looks only at what is not older than --since', async ({ json }) => {
    const { value } = await json('mint', 'verify', '--since', '2100-01-01');
    expect(value).toMatchObject({ tokens: 0, disagreeing: 0 });
  });

  test('finds minted rows of a contract that does not exist', async ({ db, json }) => {
    const nft = await addNft(db, vaultOf(['a']), await addRwa(db, 'acme', { contractAddress: other }));
    const minted = {
      mint_state: 'minted',
      minted_at: new Date(),
      minted_tx: '0x1',
      minted_block: 3,
      recipient,
    };
    await db('nfts').where({ id: nft.id }).update(minted);
    const { value } = await json('mint', 'verify');
    expect(value.findings).toContainEqual(expect.objectContaining({ nftId: nft.id, kind: 'no_token' }));
    await db('nfts').where({ id: nft.id }).delete();
  });

  test('says when the network is not registered', async ({ run }) => {
    expect(await run('mint', 'verify', '--chain', '5')).toMatchObject({
      status: 2,
      err: 'There is no network 5. List them with: tallystick network list\n',
    });
  });
});

describe('recover', () => {
  test('fixes what can be fixed, and leaves what needs a person', async ({ db, json, run }) => {
    const dry = await json('recover');
    expect(dry).toMatchObject({ status: 1, value: { applied: false, wouldFix: 4, left: 3 } });
    expect(dry.value).not.toHaveProperty('fixed');
    expect(dry.value.findings).toContainEqual(expect.objectContaining({ wouldFix: true }));
    const shown = await run('recover');
    expect(shown.out).toMatch(/ WOULD FIX\n/);
    expect(`${shown.out}${shown.err}`).not.toMatch(/fixed +\d|FIXED/);
    const rows = await db('nfts').count();
    const { status, value } = await json('recover', '--apply');
    expect({ status, value }).toMatchObject({ status: 0, value: { applied: true, fixed: 4, left: 3 } });
    expect(value.findings).toContainEqual(expect.objectContaining({ fixed: true }));
    const kept = value.findings.flatMap(({ fixed, kind }: { fixed: boolean; kind: string }) =>
      fixed ? [] : [kind],
    );
    expect(kept.toSorted()).toEqual(['no_token', 'other_recipient', 'unknown_asset']);
    // The token without a row gets the next serial.
    expect(await db('nfts').count()).toEqual([{ count: String(Number(rows[0]?.['count']) + 1) }]);
    expect(await db('rwas').max('last_serial')).toEqual([{ max: '6' }]);
    const left = (await json('mint', 'verify')).value.findings;
    expect(left.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
      'no_token',
      'other_recipient',
    ]);
    expect((await run('recover')).out).toContain('no_token');
  });

  test('refuses to judge without a signer that it knows', async ({ db, run }) => {
    await db('mint_lanes').delete();
    expect((await run('recover')).err).toContain('No signer of network 31337 is known');
    expect((await run('recover', '--signer', ours)).err).toContain('Nothing was changed');
    await db('mint_lanes').insert({ chain_id: 31337, signer: ours });
  });

  test('refuses --begin together with --apply', async ({ run }) => {
    expect((await run('recover', '--begin', '--apply')).status).toBe(2);
  });
});
