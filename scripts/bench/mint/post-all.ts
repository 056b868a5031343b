import { openConnection } from '../http/connection.ts';

export type Post = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
};

/** A request for a connection of the bench. */
export const toRequest = ({ path, headers, body }: Post) =>
  ({ method: 'POST', path, headers, body: JSON.stringify(body) }) as const;

/** Sends all requests over so many connections at once. @throws Error for an answer other than 200 */
export async function postAll(
  port: number,
  requests: readonly Post[],
  connections: number,
  onAnswer: (count: number) => void,
): Promise<{ seconds: number }> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)));
  let answered = 0;
  let next = 0;
  const started = performance.now();
  await Promise.all(
    open.map(async (connection) => {
      for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
        const { status, body } = await connection.send(toRequest(request));
        if (status !== 200) throw new Error(`POST ${request.path} was answered ${status}: ${body}`);
        answered += 1;
        onAnswer(answered);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  for (const connection of open) connection.close();
  return { seconds };
}
