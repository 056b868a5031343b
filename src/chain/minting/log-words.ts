/**
 * Matches the refusal of a query for logs of too many blocks. Hosted nodes send it with the code for "too many
 * requests", and BSC nothing but "limit exceeded".
 */
export const tooWide =
  /range|results|response size|more than \d+|limited to|too (large|many blocks)|(^|; )limit exceeded/i;
