/*
 * The operations of /claim/v1/api. The secret goes into bodies only.
 *
 * An answer is `{ body }`, or `{ code, retryAfter, detail }`: the code of a problem, `unreachable` where no answer came;
 * the seconds until another try makes sense, where the service named them; and its words, in English.
 */

// Longer than the service takes to give up by itself.
const timeoutMs = 60_000;

export const readClaim = ({ nftId, secret }) => post(`${nftId}/state`, { secret });
export const checkRecipient = ({ nftId, secret }, recipient) =>
  post(`${nftId}/recipient`, { secret, recipient });
export const sendClaim = ({ nftId, secret }, recipient) => post(nftId, { secret, recipient });

async function post(path, body) {
  // Safari has had AbortSignal.timeout since 16.
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  try {
    const response = await fetch(new URL(`v1/api/claims/${path}`, document.baseURI).href, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      redirect: 'error',
      signal: abort.signal,
    });
    const answer = await response.json();
    if (response.ok) return { body: answer };
    const retryAfter = Number(response.headers.get('retry-after')) || undefined;
    return { code: String(answer.code), retryAfter, detail: String(answer.detail) };
  } catch {
    return { code: 'unreachable' };
  } finally {
    clearTimeout(timer);
  }
}
