/*
 * Calls of the service that serves the page. Secrets go into bodies and headers, never into addresses.
 *
 * An answer is `{ body }`, or `{ code, retryAfter, detail }`: the code of a problem, `unreachable` where no answer came;
 * the seconds until another try makes sense, where the service named them; and its words, in English.
 */

// Longer than the service takes to give up by itself.
const timeoutMs = 60_000;

/** @param path relative to the page */
export async function ask(method, path, { body, headers } = {}) {
  // Safari has had AbortSignal.timeout since 16.
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  try {
    const response = await fetch(new URL(path, document.baseURI).href, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
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
