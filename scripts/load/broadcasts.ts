import type { IncomingMessage } from 'node:http';

/** The transactions that a node took when they were broadcast, whatever it did with them later. */
export type Broadcasts = {
  /** @returns what is to see the answer to this request */
  watch(request: IncomingMessage): (answer: IncomingMessage) => void;
  took(hash: string): boolean;
};

const method = 'eth_sendRawTransaction';
const hashes = /"result":\s*"(0x[0-9a-f]{64})"/g;

/** Reads no other answers: that cost more than the chain itself. */
export function createBroadcasts(): Broadcasts {
  const taken = new Set<string>();
  return {
    watch(request) {
      let isBroadcast = false;
      request.on('data', (bytes: Buffer) => {
        isBroadcast ||= bytes.includes(method);
      });
      return (answer) => {
        if (!isBroadcast) return;
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.once('end', () => {
          const text = Buffer.concat(parts).toString();
          for (const [, hash] of text.matchAll(hashes)) if (hash !== undefined) taken.add(hash);
        });
      };
    },
    took: (hash) => taken.has(hash),
  };
}
