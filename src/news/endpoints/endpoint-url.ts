import { isIP } from 'node:net';
import { isPublicAddress } from '../../outgoing/public-address.ts';

/** Hosts that endpoints may name although they are not public or not https, as `host` or `host:port`. */
export type AllowedHosts = readonly string[];

/** Whether the operator allows the host of an address, whatever it is. */
export const isAllowed = ({ host, hostname }: URL, allowed: AllowedHosts): boolean =>
  allowed.includes(host) || allowed.includes(hostname);

/** The host of a URL without brackets and without the dot that may end a name. URLs have it in one spelling. */
const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, '');

/**
 * Whether an address has the form that endpoints have: https, a public host, no user and password. What its name leads to is
 * checked at each connection.
 */
export function isEndpointUrl(text: string, allowed: AllowedHosts): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return false;
  if (isAllowed(url, allowed)) return true;
  const host = bareHost(url);
  const isPublic =
    isIP(host) === 0 ? /^[^.]+(\.[^.]+)+$/.test(host) && !host.endsWith('.localhost') : isPublicAddress(host);
  return url.protocol === 'https:' && isPublic;
}

/** The address as it is used: as URLs are written, and without what is never sent. */
export function usedUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

/**
 * The parts of an address that is stored as `https://host key id:base64`; undefined where the address is in clear. An
 * address in clear can have spaces, too, but none behind its host: so it is a URL.
 */
export function sealedParts(
  address: string,
): { readonly origin: string; readonly sealed: string } | undefined {
  if (URL.canParse(address)) return undefined;
  const [origin = '', sealed = ''] = address.split(' ');
  return { origin, sealed };
}

const originOf = (address: string) => new URL(sealedParts(address)?.origin ?? address);

/** The host of an address, also of a sealed one, without its port. */
export const hostOf = (address: string): string => bareHost(originOf(address));

/** An address for people whom its path does not concern, also of a sealed one. */
export const shortUrl = (address: string): string => `${originOf(address).origin}/…`;
