/** The number of the oldest news that endpoint `e` has not got; that of the next in its feed where it has all. */
export const nextSql = `coalesce(
  (SELECT d.position FROM news_deliveries d WHERE d.endpoint_id = e.id AND NOT d.delivered ORDER BY d.position LIMIT 1),
  e.position + 1)`;
