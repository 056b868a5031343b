import { failure, type Reply } from './flaw.ts';

type Outage = {
  readonly name: string;
  /** What the service tells of it. */
  readonly words: string;
  readonly reply: Reply;
};

const refuses = (name: string, words: string, code = -32000): Outage => ({
  name,
  words,
  reply: failure(code, words),
});

/** What a node says to every transaction while it answers all else. No answer is about a price. */
export const broadcastOutages: readonly Outage[] = [
  refuses('an internal error', 'Internal error', -32603),
  refuses('a limit of accounts', 'in-flight transaction limit reached for delegated accounts'),
  refuses('a full pool', 'txpool is full'),
  refuses('a nonce that is too high for it', 'nonce too far in the future'),
  refuses('too few funds, as it supposes', 'insufficient funds for gas * price + value'),
  refuses('a node that is not synced', 'not synced'),
  refuses('a limit of questions', 'daily limit of the price plan reached', -32005),
  { name: 'an HTTP error', words: '503', reply: { status: 503 } },
];
