import { startGate } from '../keys/tcp-gate.ts';

/** Between a process and PostgreSQL; knows what is asked of the server, by whatever library. */
export type PostgresTap = {
  /** Of the database, by way of the tap. */
  readonly url: string;
  /** The texts of the statements that the work sends, in their order. What a process listens with is not counted. */
  statementsOf(work: () => PromiseLike<unknown>): Promise<string[]>;
  close(): Promise<void>;
};

/** Starts one before the database of the URL, whose server is on this machine. */
export async function startPostgresTap(databaseUrl: string): Promise<PostgresTap> {
  const noted = new Set<(statement: string) => void>();
  const tell = (statement: string) => {
    for (const note of noted) note(statement);
  };
  const gate = await startGate(databaseUrl, () => createReader(tell));
  return {
    url: gate.through(databaseUrl),
    close: gate.close,
    async statementsOf(work) {
      const sent: string[] = [];
      const note = (statement: string) => void sent.push(statement);
      noted.add(note);
      try {
        await work();
      } finally {
        noted.delete(note);
      }
      return sent;
    },
  };
}

/**
 * Reads what a client sends on one connection, by the messages of the protocol (version 3).
 * @param note gets each statement when its execution is asked for
 */
function createReader(note: (statement: string) => void): (chunk: Buffer) => void {
  const parsed = new Map<string, string>();
  const bound = new Map<string, string>();
  let isListening = false;
  const execute = (statement: string) => {
    isListening ||= statement.startsWith('LISTEN');
    if (!isListening) note(statement);
  };
  const read = (type: string, body: Buffer) => {
    const [first = '', second = ''] = body.toString().split('\0', 2);
    if (type === 'Q') execute(first);
    if (type === 'P') parsed.set(first, second);
    if (type === 'B') bound.set(first, parsed.get(second) ?? '');
    if (type === 'E') execute(bound.get(first) ?? '');
  };
  let rest = Buffer.alloc(0);
  // The first message has no type.
  let typeBytes = 0;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readUInt32BE(typeBytes);
      if (rest.length < length) return;
      if (typeBytes > 0) read(rest.toString('latin1', 0, 1), rest.subarray(5, length));
      rest = rest.subarray(length);
      typeBytes = 1;
    }
  };
}
