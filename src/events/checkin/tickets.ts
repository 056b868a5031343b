import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import { createLocalJWKSet, type JWK, jwtVerify, SignJWT } from 'jose';
import { problem } from '../../base/errors.ts';

/** What a ticket says. */
type Ticket = {
  /** In lower case. */
  readonly eventId: string;
  readonly attendeeId: string;
  /** `seq` of the attendee, which differs when the same user is added again. */
  readonly ticketId: string;
  readonly expiresAt: Date;
  /** For the person at the door; null for a ticket that does not show it. */
  readonly label: string | null;
};

/** Signs and verifies tickets. */
export type Tickets = {
  /** Keys that verify tickets; the first key signs. */
  readonly publicKeys: readonly TicketKey[];
  /** The text of a ticket; always the same. @throws ProblemError `service_unavailable` without a key */
  readonly sign: (ticket: Ticket) => Promise<string>;
  /**
   * What a ticket of an event says that is valid at a time, now by default, with or without white space around it; undefined of
   * any other text.
   */
  readonly read: (
    text: string,
    eventId: string,
    at?: Date,
  ) => Promise<Pick<Ticket, 'attendeeId' | 'ticketId'> | undefined>;
};

type TicketKey = Required<Pick<JWK, 'kty' | 'crv' | 'x' | 'kid' | 'alg'>>;

const alg = 'EdDSA';
const form = /^[\w-]+\.[\w-]+\.[\w-]{86}$/;

/** @param ring keys as SECRET_KEYS has them; the first signs, all verify */
export function createTickets(ring: ReadonlyMap<string, Buffer> = new Map()): Tickets {
  const pairs = [...ring.values()].map(pairOf);
  const publicKeys = pairs.map(({ publicKey }) => publicKey);
  const keySet = createLocalJWKSet({ keys: publicKeys });
  return {
    publicKeys,

    sign({ eventId, attendeeId, ticketId, expiresAt, label }) {
      const [first] = pairs;
      if (first === undefined) throw problem('service_unavailable');
      return new SignJWT(label === null ? {} : { label })
        .setProtectedHeader({ alg, kid: first.publicKey.kid })
        .setAudience(eventId)
        .setSubject(attendeeId)
        .setJti(ticketId)
        .setExpirationTime(expiresAt)
        .sign(first.privateKey);
    },

    async read(scanned, eventId, at) {
      const text = scanned.trim();
      if (!form.test(text) || !isOnlySpelling(text)) return undefined;
      const options = {
        algorithms: [alg],
        audience: eventId,
        requiredClaims: ['exp'],
        ...(at && { currentDate: at }),
      };
      const verified = await jwtVerify(text, keySet, options).catch(() => undefined);
      const { sub: attendeeId, jti: ticketId } = verified?.payload ?? {};
      return attendeeId === undefined || ticketId === undefined ? undefined : { attendeeId, ticketId };
    },
  };
}

/** Whether the parts of a ticket are what encoding their bytes again gives: the last character of base64url can have unused bits. */
const isOnlySpelling = (text: string): boolean =>
  text.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);

type Pair = { readonly privateKey: KeyObject; readonly publicKey: TicketKey };

// What stands before the 32 bytes of a key of Ed25519 in PKCS #8 (RFC 8410).
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The pair of keys that follows from a secret; nothing else uses it. */
function pairOf(secret: Buffer): Pair {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'tallystick tickets', 32));
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
  const { crv = '', kty = '', x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  // The members and their order follow RFC 7638.
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
  return { privateKey, publicKey: { kty, crv, x, kid: thumbprint.slice(0, 8), alg } };
}
