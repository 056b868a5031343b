/** The queue of NFTs whose mint was accepted; the key of a job is the id of its NFT. */
export const mintQueue = 'mint-nft';

/** The channel that is notified after mints were accepted, so that no lane waits for its next poll. */
export const mintChannel = 'tallystick_mint';
