import { setCompared } from '../../src/rwa/minting/compare/compared-contract-store.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { createMintSetup, type MintSetup } from './mint-setup.ts';

/** A mint setup whose network has one node, which refuses some questions for good. */
export type RefusedSetup = MintSetup & {
  readonly refusing: TestNode;
  row(
    id: string,
  ): Promise<{ mint_state: string; minted_tx: string | null; token_id: string; recipient: string }>;
  /** Why an NFT does not move; undefined when nothing is noted. */
  note(id: string): Promise<{ reason: string; detail: string } | undefined>;
  /** As after a comparison of the contract with the rows, so that what is asked for is evidence. */
  compared(): Promise<void>;
  /** Accepts the mint of an NFT whose token somebody else mints to the same recipient, so that it is passed over. */
  acceptMinted(): Promise<{ id: string; tokenId: string; hash: string }>;
};

export async function createRefusedSetup(): Promise<RefusedSetup> {
  const setup = await createMintSetup();
  const { chain, service } = setup;
  const refusing = await startNode(chain.rpcUrl);
  await service.db('networks').update({ rpc_urls: [refusing.url] });
  const row = (id: string) => service.db('nfts').where({ id }).first();
  return {
    ...setup,
    refusing,
    row,
    note: (id) => service.db('mint_notes').where({ nft_id: id }).first('reason', 'detail'),
    compared: () => setCompared(service.db, { chainId: chain.chainId, contract: chain.contract }, 1_000_000n),
    async acceptMinted() {
      const [id = ''] = await setup.accept(1);
      const { recipient, token_id: tokenId } = await row(id);
      await chain.mintByHand(recipient, tokenId);
      const hash = (await chain.mints()).get(tokenId)?.[0]?.hash ?? '';
      return { id, tokenId, hash };
    },
    async settle(ids) {
      refusing.setFlaws();
      return setup.settle(ids);
    },
    async close() {
      await setup.killAll();
      await refusing.close();
      await setup.close();
    },
  };
}
