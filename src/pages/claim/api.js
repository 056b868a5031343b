/* The operations of /claim/v1/api. The secret goes into bodies only. `ask` says what an answer is. */

import { ask } from '../shared/ask.js';

const post = (path, body) => ask('POST', `v1/api/claims/${path}`, { body });

export const readClaim = ({ nftId, secret }) => post(`${nftId}/state`, { secret });
export const checkRecipient = ({ nftId, secret }, recipient) =>
  post(`${nftId}/recipient`, { secret, recipient });
export const sendClaim = ({ nftId, secret }, recipient) => post(nftId, { secret, recipient });
