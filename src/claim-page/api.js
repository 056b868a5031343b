/*
 * The two operations of /claim/v1/api. The secret goes into bodies only.
 *
 * An answer is `{ claim }`, or `{ code, detail, retryAfter }`: the code of a problem, `unreachable` where none came, and
 * seconds until it is worth asking again, where that was told.
 */

// Longer than the service takes to give up by itself.
const timeoutMs = 60_000;

export const readClaim = ({ nftId, secret }) => post(`${nftId}/state`, { secret });
export const sendClaim = ({ nftId, secret }, recipient) => post(nftId, { secret, recipient });

async function post(path, body) {
  try {
    const response = await fetch(new URL(`v1/api/claims/${path}`, document.baseURI), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = await response.json();
    if (response.ok) return { claim: answer };
    const retryAfter = Number(response.headers.get('retry-after')) || undefined;
    return { code: String(answer.code), detail: String(answer.detail), retryAfter };
  } catch {
    return { code: 'unreachable', detail: '', retryAfter: undefined };
  }
}
