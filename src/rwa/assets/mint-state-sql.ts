/**
 * SQL: the state of an NFT whose row is found by something else, most often by its id. No index of a state is read for
 * it: when many NFTs have changed their state, statistics know nothing of that for minutes, and PostgreSQL reads
 * all NFTs of a state for each that it searches, since it takes them for a few.
 * @param nft what the row is called
 */
export const stateOfRow = (nft = 'nfts') => `${nft}.mint_state || ''`;
