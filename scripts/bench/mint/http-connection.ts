import { connect, type Socket } from 'node:net';

type Answer = { readonly status: number; readonly body: string };
export type Post = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
};

export type HttpConnection = {
  post(request: Post): Promise<Answer>;
  close(): void;
};

/**
 * One kept connection, written by hand: who measures a service on the same cores must cost little. Understands
 * what our server sends: answers with a content length, one at a time.
 */
export async function openConnection(port: number): Promise<HttpConnection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let waiting: PromiseWithResolvers<Answer> | undefined;
  let text = '';
  const fail = () => waiting?.reject(new Error('The service closed the connection.'));
  socket.setEncoding('latin1');
  socket.on('error', fail).on('close', fail);
  socket.on('data', (chunk: string) => {
    text += chunk;
    const answer = readAnswer(text);
    if (answer === undefined) return;
    text = '';
    waiting?.resolve(answer);
  });
  return {
    post(request) {
      waiting = Promise.withResolvers<Answer>();
      write(socket, request);
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}

function write(socket: Socket, { path, headers, body }: Post): void {
  const json = JSON.stringify(body);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${lines.join('')}` +
      `content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

/** @returns undefined while it is not whole */
function readAnswer(text: string): Answer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const length = /^content-length: (\d+)$/im.exec(text.slice(0, end));
  if (length === null) throw new Error(`An answer without a length: ${text.slice(0, 200)}`);
  const body = text.slice(end + 4);
  return body.length < Number(length[1]) ? undefined : { status: Number(text.slice(9, 12)), body };
}

/** Sends all requests over so many connections at once. @throws Error for an answer other than 200 */
export async function postAll(
  port: number,
  requests: readonly Post[],
  connections: number,
  onAnswer: (count: number) => void = () => {},
): Promise<{ answers: string[]; seconds: number }> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)));
  const answers: string[] = [];
  let next = 0;
  const started = performance.now();
  await Promise.all(
    open.map(async (connection) => {
      for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
        const { status, body } = await connection.post(request);
        if (status !== 200) throw new Error(`POST ${request.path} was answered ${status}: ${body}`);
        answers.push(body);
        onAnswer(answers.length);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  for (const connection of open) connection.close();
  return { answers, seconds };
}
