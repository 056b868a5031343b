import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { checksumAddress, isZeroAddress } from '../../chain/address.ts';
import { isChainId } from '../../chain/rpc/client/network.ts';
import type { Config } from '../../config/config.ts';
import { nameFault } from '../../contract/visible-text.ts';

/** Parses a whole number within bounds, which are included. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Parses an amount in gwei. @returns it in wei, decimal */
export function gwei(text: string): string {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole === undefined) throw new InvalidArgumentError('It must be an amount in gwei, such as 25 or 0.1.');
  return BigInt(whole + fraction.padEnd(9, '0')).toString();
}

/** Parses a text that is not empty, and trims it. */
export function words(max = 255): (text: string) => string {
  return (text) => {
    const trimmed = text.trim();
    if (trimmed === '') throw new InvalidArgumentError('It must not be empty.');
    if (trimmed.length > max) throw new InvalidArgumentError(`It must have at most ${max} characters.`);
    return trimmed;
  };
}

/** Parses a text that people can see, and trims it. */
export function visibleWords(max?: number): (text: string) => string {
  return (text) => {
    const trimmed = words(max)(text);
    const fault = nameFault(trimmed);
    if (fault === undefined) return trimmed;
    throw new InvalidArgumentError(`It ${fault}.`);
  };
}

/** Parses a value or an empty text, which clears a field. The parser of options takes null for a missing value. */
export function orEmpty(parse: (text: string) => string): (text: string) => string {
  return (text) => (text.trim() === '' ? '' : parse(text));
}

/** Maps the result of {@link orEmpty}: null clears a field, undefined keeps it. */
export const orNull = (text: string | undefined) => (text === '' ? null : text);

export function webUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol) || text.length > 2_048) {
    throw new InvalidArgumentError('It must be an http(s) URL of at most 2048 characters.');
  }
  return text;
}

/** Parses an http(s) URL to which paths are added: without a query, a fragment and a slash at its end. */
export function siteUrl(text: string): string {
  const { search, hash, username, href } = new URL(webUrl(text));
  if (`${search}${hash}${username}` !== '') {
    throw new InvalidArgumentError('It must have no query, no fragment and no user.');
  }
  return href.replace(/\/+$/, '');
}

/** Parses an address other than the zero address. @returns its EIP-55 form */
export function addressValue(text: string): string {
  const checksum = checksumAddress(text);
  if (checksum === undefined) {
    throw new InvalidArgumentError(
      'It must be 0x and 40 hex digits; in mixed case the checksum must be right.',
    );
  }
  if (isZeroAddress(checksum)) throw new InvalidArgumentError('It must not be the zero address.');
  return checksum;
}

export function chainId(text: string): string {
  if (!isChainId(text)) throw new InvalidArgumentError('A chain id is decimal, such as 137.');
  return text;
}

/** Creates the option that names a network. 0.1.0 called it `--chain-id`, which still works and is not shown. */
export function chainOption(description: string): Option {
  const option = new Option('--chain, --chain-id <id>', description).argParser(chainId);
  option.flags = '--chain <id>';
  return option;
}

/** Whether a text is a UUID, the form of the ids of RWAs and NFTs. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Collects the values of a repeatable option. The command checks them: an error here would quote credentials. */
export function several(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}

/** Collects the addresses of a repeatable option; an empty text alone means none. */
export function severalAddresses(text: string, earlier: readonly string[] = []): string[] {
  return text.trim() === '' ? [...earlier] : [...earlier, addressValue(text)];
}

const dateOrMoment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** Parses an RFC 3339 timestamp, or a date, which means midnight UTC. */
export function moment(text: string): Date {
  if (!dateOrMoment.safeParse(text).success) {
    throw new InvalidArgumentError('It must be a date such as 2027-01-31, or 2027-01-31T12:00:00Z.');
  }
  return new Date(text);
}

/** The fields that are not undefined. */
export function present<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  // Exactly the undefined fields are left out.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
}

/** The id that local chains have: nobody else reads what is minted there. */
export const localChain = '31337';

/** Returns whether a URL leads each reader to the own machine. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/.test(hostname);
}

/** Whether claim codes lead to the claim page of this service where neither RWA nor company has a page. */
export const leadsToOwnPage = ({ claimBaseUrl, publicBaseUrl }: Config): boolean =>
  claimBaseUrl === `${publicBaseUrl}/claim`;
