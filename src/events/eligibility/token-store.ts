import type { Database, Tx } from '../../contract/transaction.ts';
import type { Findings } from './holdings.ts';
import { type Token, tokenKey } from './token.ts';

/** Finds which of the tokens of findings have admitted somebody to an event. @returns their keys */
export async function findUsedTokens(
  db: Database | Tx,
  eventId: string,
  findings: Findings,
): Promise<ReadonlySet<string>> {
  const tokens = [...findings.values()].flatMap((finding) => {
    const { chainId, contract } = finding;
    if ('undecidable' in finding || chainId === null || contract === null) return [];
    return (finding.tokenIds ?? []).map((tokenId) => ({ chainId, contract, tokenId }));
  });
  if (tokens.length === 0) return new Set();
  const { rows }: { rows: Token[] } = await db.raw(
    `SELECT t.chain_id AS "chainId", t.contract, t.token_id::text AS "tokenId" FROM attendee_tokens t
     JOIN unnest(?::bigint[], ?::text[], ?::numeric[]) AS asked (chain_id, contract, token_id)
       USING (chain_id, contract, token_id) WHERE t.event_id = ?`,
    [...columnsOf(tokens), eventId],
  );
  return new Set(rows.map(tokenKey));
}

type ConsumedToken = Token & { readonly attendeeId: string };

/** Finds the tokens that the admissions of attendees have consumed. */
export async function findConsumedTokens(
  db: Database | Tx,
  eventId: string,
  attendeeIds: readonly string[],
): Promise<ConsumedToken[]> {
  const { rows }: { rows: ConsumedToken[] } = await db.raw(
    `SELECT attendee_id AS "attendeeId", chain_id AS "chainId", contract, token_id::text AS "tokenId"
     FROM attendee_tokens WHERE event_id = ? AND attendee_id = ANY (?::text[])
     ORDER BY chain_id, contract, token_id`,
    [eventId, [...attendeeIds]],
  );
  return rows;
}

/** Tokens as a column for each of their fields. */
export const columnsOf = (tokens: readonly Token[]) => [
  tokens.map(({ chainId }) => chainId),
  tokens.map(({ contract }) => contract),
  tokens.map(({ tokenId }) => tokenId),
];
