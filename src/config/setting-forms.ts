import { isIP } from 'node:net';
import { z } from 'zod';

// The forms of values that settings can have.

export const wholeSetting = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);

/** A list of texts with commas between them. */
export const commaList = <T extends z.ZodType<unknown, string>>(item: T) =>
  z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .pipe(z.array(item));

export const listSetting = <T extends string>(allowed: readonly [T, ...T[]]) =>
  commaList(z.enum(allowed, { error: `must be a comma-separated list of ${allowed.join(', ')}` }));

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' });

/** The origin of pages, as browsers send it. */
export const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text),
    'must be an origin such as https://app.example, without a path or a slash at its end',
  );

const encodedForm =
  'cannot be read as postgres://user:password@host:port/database; within user and password, write # as %23, % as %25, / as %2F, ? as %3F and @ as %40';

export const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, { error: 'must be a postgres:// URL', abort: true })
  .refine(leadsToDatabase, encodedForm);

/**
 * Whether the URL names the host that it seems to name. A password with such a character may be read as the end of the
 * host.
 */
function leadsToDatabase(text: string): boolean {
  // Without a host, a parameter names the folder of a socket.
  const whole = text.replace('@/', '@localhost/');
  if (!URL.canParse(whole) || text.includes('#')) return false;
  const { username, password, hostname, pathname, search } = new URL(whole);
  if (/[/@]/.test(pathname.slice(1)) || (username === '' && search.includes('@'))) return false;
  try {
    for (const part of [username, password, hostname, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** The entries of a list of keys, which stand behind commas or in lines. */
export const keyEntries = (text: string): string[] => text.trim().split(/\s*[,\n]\s*/);

/** Named keys, `id:base64` separated by commas or lines; the first is used for new data, all for reading. */
export const keyRing = z.string().transform((text, context) => {
  const entries = keyEntries(text).map((entry) => entry.split(':'));
  const ring = new Map<string, Buffer>();
  for (const [id = '', encoded = '', ...rest] of entries) {
    const bytes = Buffer.from(encoded, 'base64');
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id) || rest.length > 0 || bytes.length !== 32 || ring.has(id)) {
      context.addIssue('must be id:base64[,id:base64] with distinct ids and keys of 32 bytes');
      return z.NEVER;
    }
    ring.set(id, bytes);
  }
  return ring as ReadonlyMap<string, Buffer>;
});

/** The key that signs mints on a network. */
type SignerSetting = {
  /** Decimal. */
  readonly chainId: string;
  readonly kind: 'keystore' | 'kms';
  /** Path of an encrypted keystore file, or ARN of a key in AWS KMS. */
  readonly place: string;
};

const signerForm = /^([1-9]\d{0,15})=(?:(keystore):(.+)|(kms):(arn:aws[a-z-]*:kms:[a-z0-9-]+:\d+:.+))$/;

export const signerList = z.string().transform((text, context): readonly SignerSetting[] => {
  const signers = text.split(',').flatMap((item): SignerSetting[] => {
    const [, chainId = '', kind, place = ''] =
      signerForm.exec(item.trim())?.filter((part) => part !== undefined) ?? [];
    return kind === 'keystore' || kind === 'kms' ? [{ chainId, kind, place }] : [];
  });
  if (signers.length === text.split(',').length) return signers;
  context.addIssue('must be chainId=keystore:path or chainId=kms:arn, separated by commas');
  return z.NEVER;
});

/** An address, a network in CIDR notation, or one of the names for private networks. */
export const proxy = z
  .string()
  .refine(
    (text) => ['loopback', 'linklocal', 'uniquelocal'].includes(text) || isNetwork(text),
    'must be an address, a network such as 10.0.0.0/8, or loopback, linklocal or uniquelocal',
  );

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  // A network of no bits would be everybody.
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
