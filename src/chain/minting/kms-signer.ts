import { createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand, type KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { computeAddress, getBytes, recoverAddress, Signature, toBeHex } from 'ethers';
import { createKmsClient, fromKms, type KmsOptions } from '../kms-client.ts';
import { createMintSigner, type DigestSigner, type MintSigner } from './signer.ts';

// The order of secp256k1. Of the two signatures with the same r, chains accept the one with the lower s (EIP-2).
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * Signs with a key that never leaves AWS KMS: an asymmetric key with the spec ECC_SECG_P256K1.
 * @param arn of the key, or of an alias of it
 * @throws Error that names the key when KMS cannot be reached or the key has another type
 */
export async function openKmsKey(arn: string, options?: KmsOptions): Promise<MintSigner> {
  const client = createKmsClient(arn, options);
  const address = await addressOf(client, arn);
  return createMintSigner({ address, signDigest: (digest) => signDigest(client, arn, address, digest) });
}

async function addressOf(client: KMSClient, arn: string): Promise<string> {
  try {
    const { PublicKey } = await fromKms(() => client.send(new GetPublicKeyCommand({ KeyId: arn })));
    const der = Buffer.from(PublicKey ?? []);
    const {
      crv,
      x = '',
      y = '',
    } = createPublicKey({ key: der, format: 'der', type: 'spki' }).export({
      format: 'jwk',
    });
    if (crv !== 'secp256k1') throw new Error(`it is of the curve ${crv}, not secp256k1`);
    const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
    return computeAddress(`0x${point.toString('hex')}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The KMS key ${arn} cannot be used: ${reason}`, { cause });
  }
}

async function signDigest(
  client: KMSClient,
  arn: string,
  address: string,
  digest: string,
): ReturnType<DigestSigner['signDigest']> {
  const command = new SignCommand({
    KeyId: arn,
    Message: getBytes(digest),
    MessageType: 'DIGEST',
    SigningAlgorithm: 'ECDSA_SHA_256',
  });
  const { Signature: der } = await fromKms(() => client.send(command));
  const { r, s } = readSignature(Buffer.from(der ?? []));
  const parts = { r: toBeHex(r, 32), s: toBeHex(s > order / 2n ? order - s : s, 32) };
  // KMS returns no recovery id: the parity is the one that recovers the key's address.
  for (const yParity of [0, 1] as const) {
    if (recoverAddress(digest, Signature.from({ ...parts, yParity })) === address)
      return { ...parts, yParity };
  }
  throw new Error(`The signature of KMS is not of ${address}.`);
}

/**
 * Parses a signature in the form of KMS: DER, a sequence of two integers.
 * @throws Error when it is anything else
 */
export function readSignature(der: Buffer): { r: bigint; s: bigint } {
  const [sequence, length] = der;
  if (sequence !== 0x30 || length !== der.length - 2) throw new Error('The signature of KMS is not DER.');
  const first = readInteger(der, 2);
  const second = readInteger(der, first.end);
  if (second.end !== der.length) throw new Error('The signature of KMS has more than two integers.');
  return { r: first.value, s: second.value };
}

function readInteger(der: Buffer, at: number): { value: bigint; end: number } {
  const end = at + 2 + (der[at + 1] ?? 0);
  const bytes = der.subarray(at + 2, end);
  if (der[at] !== 0x02 || bytes.length === 0 || bytes.length > 33 || end > der.length) {
    throw new Error('The signature of KMS is not DER.');
  }
  return { value: BigInt(`0x${bytes.toString('hex')}`), end };
}
