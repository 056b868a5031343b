/*
 * SQL of the lines of the queue: what one company has queued for one contract. Only the index by lines can be read so: with
 * plain equality and the order of waiting the planner sometimes reads the whole queue by time instead, past all that waits
 * in other lines.
 */

/** The order in a line. */
export const inLine = 'mint_contract, company_id, queued_at, id';

/** Whether an NFT is of the line. */
export const isOfLine = (contract: string, companyId: string) => `
  ROW (mint_contract, company_id) >= ROW (${contract}, ${companyId})
  AND ROW (mint_contract, company_id) <= ROW (${contract}, ${companyId})`;
