/* The text of a ticket: a JWT in compact form, signed with Ed25519. Pure; nothing here verifies the signature. */

// The service accepts no longer ticket. A link has the event and the place in addition.
const longestTicket = 2_048;
const longestLink = 8_192;
const form = /^[\w-]+\.[\w-]+\.[\w-]{86}$/;

/** Finds the text of a ticket in what was scanned: the ticket itself, or the link to its page. */
export function findTicket(scanned) {
  if (scanned.length > longestLink) return undefined;
  const trimmed = scanned.trim();
  const text = trimmed.slice(trimmed.indexOf('#') + 1).split('&')[0];
  return text.length <= longestTicket && form.test(text) ? text : undefined;
}

/**
 * Reads what a ticket says. The service rejects each other spelling of a ticket, so this function does, too.
 * @returns undefined for what is no ticket of this service
 */
export function readTicket(text) {
  const parts = text.split('.');
  const bytes = parts.map(bytesOf);
  if (parts.length !== 3 || !parts.every((part, index) => bytes[index] && encode(bytes[index]) === part)) {
    return undefined;
  }
  const header = objectOf(bytes[0]);
  const claims = objectOf(bytes[1]);
  if (!header || !claims || header.alg !== 'EdDSA' || header.crit !== undefined) return undefined;
  const { aud, sub, jti, exp, label } = claims;
  if (![header.kid, aud, sub, jti].every(isText) || !Number.isSafeInteger(exp)) return undefined;
  return {
    kid: header.kid,
    eventId: aud,
    attendeeId: sub,
    ticketId: jti,
    expiresAt: exp * 1_000,
    label: isText(label) ? label : undefined,
    signed: new TextEncoder().encode(`${parts[0]}.${parts[1]}`),
    signature: bytes[2],
  };
}

const isText = (value) => typeof value === 'string' && value !== '';

function bytesOf(part) {
  try {
    const binary = atob(part.replace(/-/g, '+').replace(/_/g, '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

const encode = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '');

function objectOf(bytes) {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
