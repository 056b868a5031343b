import path from 'node:path';
import { type Gate, throughPort } from '../../test/keys/tcp-gate.ts';
import { startOwnProcess } from './own-process.ts';
import type { WireAnswer, WireOrder } from './wire-process.ts';

const program = path.resolve(import.meta.dirname, 'wire-process.ts');

/** What stands between the service and PostgreSQL: a {@link Gate} in a process of its own. */
export type Wire = Pick<Gate, 'through'> & {
  /** Passes nothing on of the connections of now; new ones pass. */
  lose(): Promise<void>;
  /** Keeps connections and takes new ones, but passes nothing on. */
  freeze(): Promise<void>;
  /** Lets everything pass, as at first. */
  open(): Promise<void>;
  /** Drops every connection; new ones lead to this server. */
  leadTo(target: string): Promise<void>;
  /** How often it has withheld something so far: bytes that came, or a connection. */
  withheld(): Promise<number>;
  close(): Promise<void>;
};

/** @param target the server's address, as any URL with a host and a port */
export async function startWire(target: string): Promise<Wire> {
  const wire = startOwnProcess<WireOrder, WireAnswer>(program);
  const { port } = await wire.order<{ port: number }>({ target });
  const tell = (order: WireOrder) => async () => {
    await wire.order(order);
  };
  return {
    through: (url) => throughPort(url, port),
    ...{ lose: tell('lose'), freeze: tell('freeze'), open: tell('open') },
    leadTo: (leadTo) => tell({ leadTo })(),
    withheld: async () => (await wire.order<{ withheld: number }>('count')).withheld,
    close: wire.close,
  };
}
