import { randomBytes } from 'node:crypto';
import type { Answer } from '../../support/conformance.ts';
import { Unprovoked } from '../session.ts';
import { cannot, type Provocations, type Provoke, type Trial, writing } from './case.ts';

const wallets = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'];
const reserved = `0x${'1'.padStart(40, '0')}`;
const tries = 5;

/** An NFT, with its secret as a key without scopes sees it. */
type Held = { readonly id: string; readonly secret: string | null };

/** An answer to the right secret, unless the RWA did not opt in. The deployment is not at fault then. */
const unlessClosed = (answer: Answer): Answer => {
  const [code] = answer.text.match(/claim_not_open|minting_unsupported|contract_unmintable/) ?? [];
  if (code === undefined) return answer;
  throw new Unprovoked(`${code}: needs a claimable RWA that opted in, on a network with minting`);
};

const read = async ({ session }: Trial, { id, secret }: Held) =>
  unlessClosed(await session.call('getClaim', { ids: { nftId: id }, body: { secret }, key: null }));

const claim = async (
  { session }: Trial,
  { id, secret }: Held,
  recipient: string | null | undefined = wallets[0],
) =>
  unlessClosed(
    await session.call('createClaim', { ids: { nftId: id }, body: { secret, recipient }, key: null }),
  );

const newNft = async ({ facts }: Trial) => facts.newNft((await facts.mintableRwa()).id);

const check = async (trial: Trial, recipient = wallets[0]) => {
  const { id, secret } = await newNft(trial);
  const asked = { ids: { nftId: id }, body: { secret, recipient }, key: null };
  return unlessClosed(await trial.session.call('checkClaimRecipient', asked));
};

/** The last of too many wrong secrets. */
const lockedOut = (more: object): Provoke =>
  writing(async (trial) => {
    const { session, id } = trial;
    const asked = {
      ids: { nftId: (await newNft(trial)).id },
      body: { secret: randomBytes(24).toString('base64url'), ...more },
    };
    for (let left = tries; left > 0; left -= 1) await session.call(id, asked);
    return session.call(id, asked);
  });

/** What is wrong with the input of an operation that takes a secret and a recipient. */
const ofRecipients = (operation: 'createClaim' | 'checkClaimRecipient'): Provocations => {
  const refused =
    (body: object): Provoke =>
    ({ session, id }) =>
      session.call(id, { body });
  return {
    [`${operation} secret_required`]: refused({ recipient: wallets[0] }),
    [`${operation} recipient_required`]: refused({ secret: 'any' }),
    [`${operation} recipient_malformed`]: refused({ secret: 'any', recipient: '0x123' }),
    [`${operation} recipient_zero`]: refused({ secret: 'any', recipient: `0x${'0'.repeat(40)}` }),
  };
};

export const claimCases: Provocations = {
  'getClaim claim_open': async (trial) => read(trial, await trial.facts.unclaimedNft()),
  'getClaim claim_minted': async (trial) => read(trial, await trial.facts.mintedNft()),
  'getClaim secret_locked': lockedOut({}),

  'checkClaimRecipient recipient_checked': writing(async (trial) => check(trial)),
  'checkClaimRecipient recipient_unusable': writing(async (trial) => check(trial, reserved)),
  'checkClaimRecipient secret_locked': lockedOut({ recipient: wallets[0] }),
  ...ofRecipients('checkClaimRecipient'),

  claim_not_found: ({ session, id }) => session.call(id, { key: null }),
  claim_not_open: writing(async ({ session, facts, id }) => {
    const { id: nftId, secret } = await facts.newNft((await session.makeRwa()).id);
    const recipient = id === 'getClaim' ? {} : { recipient: wallets[0] };
    return session.call(id, { ids: { nftId }, body: { secret, ...recipient }, key: null });
  }),

  'createClaim claim_queued': writing(async (trial) => claim(trial, await newNft(trial))),
  'createClaim secret_locked': lockedOut({ recipient: wallets[0] }),
  ...ofRecipients('createClaim'),
  'createClaim recipient_unusable': writing(async (trial) => claim(trial, await newNft(trial), reserved)),
  'createClaim nft_already_minted': async (trial) => claim(trial, await trial.facts.mintedNft()),
  'createClaim nft_already_queued': writing(async (trial) => {
    const nft = await newNft(trial);
    const first = await claim(trial, nft);
    if (first.status !== 200) throw new Unprovoked(`the first claim was answered ${first.status}`);
    const second = await claim(trial, nft, wallets[1]);
    if (second.text.includes('nft_already_minted'))
      throw new Unprovoked('the NFT was minted before it was claimed again');
    return second;
  }),
  'createClaim rwa_not_claimable': writing(async (trial) =>
    claim(trial, await trial.facts.newNft((await trial.facts.unclaimableRwa()).id)),
  ),
  'createClaim rwa_archived': cannot('needs an RWA that the operator has archived'),
  'createClaim minting_unsupported': cannot('needs a claimable RWA on a network without minting'),
  'createClaim contract_unmintable': cannot('needs a claimable RWA whose contract is none that mints'),
  'createClaim mint_quota_exceeded': cannot('needs a company that the operator has limited'),
};
