// A token may have been moved a million times. So a read finds its past by its key, from its newest change backwards,
// and adds up the side with fewer changes.
const ownOf = (wallet: string) =>
  `chain_id = :chainId AND wallet = ${wallet} AND contract = h.contract AND token_id = h.token_id`;

const latestOf = (own: string, to: string) => (what: string, where: string) =>
  `SELECT ${what} FROM nft_changes
  WHERE ${own} AND block_number <= ${to} ${where} ORDER BY block_number DESC, log_index DESC, part DESC LIMIT 1`;

/**
 * Returns SQL of what a wallet had of a token at the end of a block, from its changes and what it had before the
 * index began. Columns are `standard`, `amount`, `acquired_block` and `acquired_log` of the last time that it
 * received some, and `changed_block`. They are null where it never received any, and where nothing had changed by
 * then.
 * @param token the name of rows with `contract` and `token_id`
 * @param to the block; bound is `:chainId` as well
 * @param wallet of the rows
 */
export function stateOf(token: string, to: string, wallet = ':wallet::bytea'): string {
  const own = ownOf(wallet);
  const latest = latestOf(own, to);
  // The changes of both standards of a contract that logs one movement in both: the changes of ERC-1155 count.
  const sum = (blocks: string) =>
    `(SELECT coalesce(sum(delta), 0) FROM nft_changes WHERE ${own} AND standard = 1155 AND ${blocks})`;
  const isRecent = `(SELECT 2 * ${to}::bigint > head_number + start_block FROM index_state WHERE chain_id = :chainId)`;
  const amount = `CASE WHEN s.standard = 721 THEN coalesce(s.gained::int, h.start_amount)
    WHEN ${isRecent} THEN h.amount - ${sum(`block_number > ${to}`)}
    ELSE ${sum(`block_number <= ${to}`)} + coalesce(h.start_amount, 0) END`;
  return `(SELECT s.standard, ${amount} AS amount,
      CASE WHEN h.acquired_block <= ${to} THEN h.acquired_block ELSE g.block_number END AS acquired_block,
      CASE WHEN h.acquired_block <= ${to} THEN h.acquired_log ELSE g.log_index END AS acquired_log, s.changed_block
    FROM nft_holdings h
    LEFT JOIN LATERAL (${latest('standard, gained, block_number', '')}) l ON true
    CROSS JOIN LATERAL (SELECT l.gained, l.block_number AS changed_block,
      CASE WHEN h.standard = 721 OR l.standard IS NULL THEN h.standard WHEN l.standard = 1155 THEN 1155
        WHEN EXISTS (${latest('1', 'AND standard = 1155')}) THEN 1155 ELSE 721 END AS standard) s
    LEFT JOIN LATERAL (${latest('block_number, log_index', `AND gained AND h.acquired_block > ${to}`)}) g ON true
    WHERE h.chain_id = :chainId AND h.wallet = ${wallet} AND h.contract = ${token}.contract
      AND h.token_id = ${token}.token_id)`;
}
