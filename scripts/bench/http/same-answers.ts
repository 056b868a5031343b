import { isDeepStrictEqual } from 'node:util';
import type { Request } from './connection.ts';
import type { Question, Servers } from './rounds.ts';

/** Of each question: enough for rows of every kind. */
const most = 20;

/**
 * Asks both servers for the same, once: a server that answers less would be measured as faster.
 * @throws Error when a status or a body differs, except in fields that cannot be the same
 */
export async function expectSameAnswers(
  { service, peer }: Servers,
  questions: readonly Question[],
): Promise<void> {
  for (const { name, requests, differs = [] } of questions) {
    for (const request of requests.filter(({ method }) => method === 'GET').slice(0, most)) {
      const [ours, theirs] = await Promise.all([
        answerOf(service.port, request, differs),
        answerOf(peer.port, request, differs),
      ]);
      if (isDeepStrictEqual(ours, theirs)) continue;
      throw new Error(`${name}: both answer ${request.path} otherwise.
service: ${JSON.stringify(ours).slice(0, 2_000)}
peer:    ${JSON.stringify(theirs).slice(0, 2_000)}`);
    }
  }
}

async function answerOf(port: number, { path, headers }: Request, differs: readonly string[]) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const body: unknown = await response.json();
  const total = response.headers.get('x-total-count');
  if (Array.isArray(body) || typeof body !== 'object' || body === null)
    return { status: response.status, total, body };
  const left = Object.entries(body).filter(([field]) => !differs.includes(field));
  return { status: response.status, total, body: Object.fromEntries(left) };
}
