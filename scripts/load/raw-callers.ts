import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { RawFigures, RawTask } from './raw-process.ts';
import { startStranger } from './stranger.ts';

export type RawCallers = {
  /** Connections that the service has not closed. */
  open(): number;
  /** Those of them for which the kernel has more than they take. */
  blocked(): number;
  /** Leaves without a word. */
  leave(): Promise<RawFigures>;
};

/** The address of callers who behave badly, apart from that of all others. */
export const strangerAddress = '127.0.0.66';

const rawProgram = path.join(import.meta.dirname, 'raw-process.ts');

/** Opens connections that do not behave as an HTTP client should. */
export function startRawCallers(task: Omit<RawTask, 'address'>): RawCallers {
  const stranger = startStranger<RawFigures>(rawProgram, { ...task, address: strangerAddress });
  return {
    open: () => heldByService(task.ports).length,
    blocked: () => heldByService(task.ports).filter(({ unsent }) => unsent).length,
    leave: stranger.leave,
  };
}

// As the kernel writes it: the bytes of the address the other way round.
const strangerInHex = strangerAddress
  .split('.')
  .map((part) => Number(part).toString(16).padStart(2, '0').toUpperCase())
  .toReversed()
  .join('');

/**
 * Connections of strangers that processes behind these ports hold: whoever does not read does not learn that it was
 * closed.
 */
function heldByService(ports: readonly number[]): { readonly unsent: boolean }[] {
  const own = new Set(ports.map((port) => port.toString(16).padStart(4, '0').toUpperCase()));
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  return lines.flatMap((line) => {
    const [, local = '', remote = '', , queues = '', , , , , inode] = line.trim().split(/\s+/);
    // A socket that its process has closed has no inode, while the kernel still has what to send.
    const isHeld = own.has(local.split(':')[1] ?? '') && remote.startsWith(strangerInHex) && inode !== '0';
    return isHeld ? [{ unsent: !queues.startsWith('00000000:') }] : [];
  });
}

/** The text of a GET that keeps its connection. */
export function requestText(path: string, key?: string): string {
  const withKey = key === undefined ? '' : `x-api-key: ${key}\r\n`;
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${withKey}\r\n`;
}
