import { EventEmitter } from 'node:events';
import type { PGlite } from '@electric-sql/pglite';

/*
 * PGlite has one session and speaks PostgreSQL's wire protocol. Here several connections of the driver `pg` share that session:
 * a connection keeps it from the first statement of its transaction to the last.
 */

/** Decides what becomes of a statement of a process: it runs, or the process dies before it or before its answer. */
export type Gate = {
  /** Called before a statement runs. @returns false when the process has died: nothing of it reaches the server */
  before(): boolean;
  /** Called after it. @param isIdle whether no transaction is open. @returns false when the process has died: the answer reaches nobody */
  after(isIdle: boolean): boolean;
  /** Whether the process stands still. Its transaction is rolled back then, as the server does after some seconds. */
  isFrozen(): boolean;
};

export type Wire = {
  /** What the driver takes as its socket. */
  open(gate: Gate): Socket;
  /** Runs what a process has sent that stood still. */
  goOn(): void;
};

/** Of whoever neither dies nor stands still. */
export const openGate: Gate = { before: () => true, after: () => true, isFrozen: () => false };

/** A message of the protocol: a letter, its length without the letter, and the rest. */
const message = (letter: string, body: Buffer = Buffer.alloc(0)) => {
  const head = Buffer.alloc(5);
  head.write(letter, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const parsed = message('1');
const isReady = message('Z', Buffer.from('I'));
const rollback = message('Q', Buffer.from('ROLLBACK\0'));
const letters = { bind: 0x42, parse: 0x50, sync: 0x53, query: 0x51, terminate: 0x58, ready: 0x5a };

type Server = Pick<PGlite, 'execProtocolRawStream'>;
type Connection = { readonly gate: Gate; readonly units: Buffer[]; readonly socket: Socket };

/** A socket, as far as the driver uses it. One of Node copies and queues what is never late here. */
class Socket extends EventEmitter {
  writable = true;
  readonly #taken: (chunk: Buffer) => void;
  readonly #closed: () => void;
  readonly #mayConnect: () => boolean;

  constructor(taken: (chunk: Buffer) => void, closed: () => void, mayConnect: () => boolean) {
    super();
    this.#taken = taken;
    this.#closed = closed;
    this.#mayConnect = mayConnect;
  }
  connect(): void {
    process.nextTick(() => {
      if (this.#mayConnect()) this.emit('connect');
      else this.destroy(new Error('the process has died'));
    });
  }
  write(chunk: Buffer, done?: () => void): boolean {
    this.#taken(chunk);
    if (done !== undefined) process.nextTick(done);
    return true;
  }
  end(): void {
    this.destroy();
  }
  destroy(error?: Error): void {
    if (!this.writable) return;
    this.writable = false;
    this.#closed();
    process.nextTick(() => {
      if (error !== undefined) this.emit('error', error);
      this.emit('close');
    });
  }
  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}
}

/** Shares the session of a database between connections. */
export function createWire(server: Server): Wire {
  // Those that have sent something. Whoever has waited for longest is the first.
  const ready = new Set<Connection>();
  const known = new Set<string>();
  const names: Names = new Map();
  let holder: Connection | undefined;
  let isRunning = false;

  const execute = (unit: Buffer): Buffer => {
    if (isSelect(unit)) return withoutPreparing(execute(asPrepared(unit)));
    if (unit[0] !== letters.parse) return answerOf(server, unit);
    const { name, parse, rest } = kept(unit, names);
    if (known.has(name)) return Buffer.concat([parsed, answerOf(server, rest)]);
    const answer = answerOf(server, Buffer.concat([parse(), rest]));
    if (answer[0] === parsed[0]) known.add(name);
    return answer;
  };
  /** Ends what a connection has begun. */
  const leave = (connection: Connection) => {
    if (holder === connection) {
      answerOf(server, rollback);
      holder = undefined;
    }
    connection.units.length = 0;
    ready.delete(connection);
  };
  const step = (connection: Connection) => {
    const { gate, units, socket } = connection;
    const unit = units.shift();
    if (unit === undefined) return;
    if (!gate.before()) return socket.destroy();
    const answer = execute(unit);
    holder = isIdle(answer) ? undefined : connection;
    if (!gate.after(holder === undefined)) return socket.destroy();
    socket.emit('data', answer);
  };
  const nextOf = (): Connection | undefined => {
    if (holder !== undefined) return holder;
    for (const connection of ready) if (!connection.gate.isFrozen()) return connection;
    return undefined;
  };
  const run = () => {
    if (isRunning) return;
    isRunning = true;
    for (;;) {
      if (holder?.gate.isFrozen() === true) holder.socket.destroy();
      const next = nextOf();
      if (next === undefined || next.units.length === 0) break;
      step(next);
      ready.delete(next);
      if (next.units.length > 0) ready.add(next);
    }
    isRunning = false;
  };

  return {
    goOn: run,
    open(gate) {
      const feed = createFeed();
      const taken = (chunk: Buffer) => {
        for (const unit of feed(chunk)) {
          if (unit === 'hello') socket.emit('data', Buffer.concat([message('R', Buffer.alloc(4)), isReady]));
          else if (unit[0] !== letters.terminate) {
            connection.units.push(unit);
            ready.add(connection);
            process.nextTick(run);
          }
        }
      };
      const closed = () => {
        leave(connection);
        process.nextTick(run);
      };
      const socket = new Socket(taken, closed, () => gate.before());
      const connection: Connection = { gate, units: [], socket };
      return socket;
    },
  };
}

/** Runs messages. Other functions of PGlite parse the answer, and keep it for as long as the process runs. */
export function answerOf(server: Server, unit: Uint8Array): Buffer {
  const parts: Buffer[] = [];
  // It runs at once: only its promise is later.
  void server.execProtocolRawStream(unit, {
    syncToFs: false,
    onRawData: (part) => void parts.push(Buffer.from(part)),
  });
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** Whether the server has left every transaction: its last message says so. */
const isIdle = (answer: Buffer): boolean =>
  answer[answer.length - 6] !== letters.ready || answer[answer.length - 1] === 0x49;

/** Statements that have got a name, by their length: what they say, their name, and the same as bytes. */
type Names = Map<number, { readonly body: Buffer; readonly name: string; readonly bytes: Buffer }[]>;

/**
 * Gives the statement that a unit prepares a name, if it has none: the server parses and plans each text once. That takes
 * longer than to run a statement on the few rows of a life.
 */
function kept(unit: Buffer, names: Names) {
  const end = 1 + unit.readUInt32BE(1);
  const [parse, rest] = [unit.subarray(0, end), unit.subarray(end)];
  if (parse[5] !== 0 || rest[0] !== letters.bind)
    return { name: parse.toString('utf8', 5, parse.indexOf(0, 5)), parse: () => parse, rest };
  const body = parse.subarray(6);
  const alike = names.get(body.length) ?? [];
  let known = alike.find((each) => each.body.equals(body));
  if (known === undefined) {
    const name = `s${body.length}.${alike.length}`;
    known = { body: Buffer.from(body), name, bytes: Buffer.from(`${name}\0`) };
    names.set(body.length, [...alike, known]);
  }
  const { name, bytes } = known;
  // Its portal has no name either.
  const head = Buffer.from([letters.bind, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(rest.readUInt32BE(1) + bytes.length - 1, 1);
  return {
    name,
    parse: () => message('P', Buffer.concat([bytes, body])),
    rest: Buffer.concat([head, bytes, rest.subarray(7)]),
  };
}

// A prepared statement has a single command.
const isSelect = (unit: Buffer): boolean =>
  unit[0] === letters.query && /^select\b[^;]*$/i.test(unit.toString('utf8', 5, unit.length - 1));

/** A simple query in the form of one with values, of which it has none. */
function asPrepared(unit: Buffer): Buffer {
  const text = unit.subarray(5);
  return Buffer.concat([
    message('P', Buffer.concat([Buffer.of(0), text, Buffer.alloc(2)])),
    message('B', Buffer.alloc(8)),
    message('D', Buffer.from('P\0')),
    message('E', Buffer.alloc(5)),
    message('S'),
  ]);
}

/** An answer without its first two messages, that a statement was prepared and that it has its values. */
function withoutPreparing(answer: Buffer): Buffer {
  let start = 0;
  for (const letter of [0x31, 0x32])
    if (answer[start] === letter) start += 1 + answer.readUInt32BE(start + 1);
  return answer.subarray(start);
}

/** Cuts what a driver writes into units that the server answers: up to each Sync, and each simple query. */
function createFeed() {
  let rest: Buffer = Buffer.alloc(0);
  let isGreeted = false;
  return (chunk: Buffer): (Buffer | 'hello')[] => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const units: (Buffer | 'hello')[] = [];
    let [start, at] = [0, 0];
    while (at + 4 < rest.length) {
      const end = isGreeted ? at + 1 + rest.readUInt32BE(at + 1) : at + rest.readUInt32BE(at);
      if (end > rest.length) break;
      const letter = isGreeted ? rest[at] : undefined;
      at = end;
      if (letter === undefined) {
        units.push('hello');
        isGreeted = true;
      } else if (letter === letters.sync || letter === letters.query || letter === letters.terminate) {
        units.push(rest.subarray(start, at));
      } else continue;
      start = at;
    }
    rest = rest.subarray(start);
    return units;
  };
}
