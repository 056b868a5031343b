import type { Json } from '../documented.ts';
import { type Provoke, type Trial, writing } from './case.ts';

/** Sends the body of a documented request; what it needs is made before. */
export function sendExample(example: Json): Provoke {
  return writing(async (trial) => {
    const { session, id } = trial;
    const sent = (example['value'] ?? {}) as unknown as Record<string, unknown>; // request bodies are objects
    return session.call(id, await prepared(trial, sent));
  });
}

async function prepared({ session, facts, id }: Trial, sent: Record<string, unknown>) {
  switch (id) {
    case 'createEvent':
      // The network of the example may be none of this deployment.
      return { body: 'chainId' in sent ? { ...sent, chainId: Number(await facts.chainId()) } : sent };
    case 'createRwa':
      // The contract of this deployment may be none that mints.
      return { body: { ...sent, chainId: Number(await facts.chainId()), isClaimable: false } };
    case 'updateRwa':
      return { ids: { rwaId: (await session.makeRwa()).id }, body: sent };
    case 'updateNft':
      return { ids: { nftId: (await facts.newNft((await facts.anyRwa()).id)).id }, body: sent };
    case 'updateEvent':
    case 'addAttendee':
    case 'checkInAttendees':
      return { ids: { eventId: (await session.makeEvent()).id }, body: sent };
    case 'removeAttendee': {
      const ids = { eventId: (await session.makeEvent()).id };
      await session.ask('addAttendee', { ids, body: sent });
      return { ids, body: sent };
    }
    case 'createChallenge': {
      const chainId = Number(await facts.chainId());
      return { ids: { eventId: (await session.makeEvent()).id }, body: { ...sent, chainId } };
    }
    case 'createEndpoint':
      return { body: sent };
    case 'updateEndpoint':
    case 'rotateEndpointSecret':
      return { ids: { endpointId: await session.makeEndpoint() }, body: sent };
    case 'createRwaNfts':
      return { ids: { rwaId: (await facts.anyRwa()).id }, body: sent };
    case 'createAndMintNft':
      return { ids: { rwaId: (await facts.mintableRwa()).id }, body: sent };
    case 'createSnapshot':
      // The block of the example may be none that was read here.
      return {
        ids: { rwaId: (await facts.mintedNft()).rwaId },
        body: 'asOf' in sent ? { asOf: await readBlock(session, facts) } : sent,
      };
    case 'checkClaimRecipient':
    case 'getClaim':
    case 'createClaim':
    case 'mintNft': {
      const nft = await facts.newNft((await facts.mintableRwa()).id);
      return { ids: { nftId: nft.id }, body: { ...sent, secret: nft.secret } };
    }
    default:
      throw new Error(`nobody knows what the example of ${id} needs`);
  }
}

/** The newest block of whose owners the service knows. */
async function readBlock(session: Trial['session'], facts: Trial['facts']): Promise<string> {
  const ids = { rwaId: (await facts.mintedNft()).rwaId };
  return (await session.ask<{ block: string }>('listRwaHolders', { ids })).block;
}
