import { DecryptCommand, GenerateDataKeyWithoutPlaintextCommand, KMSClient } from '@aws-sdk/client-kms';
import { inTime } from '../base/in-time.ts';
import { assertNoTransaction } from '../base/open-transaction.ts';

export type KmsOptions = {
  /** URL of the service; that of the key's region by default. */
  readonly endpoint?: string;
  /** For one try of a call, in milliseconds; 5 s by default. */
  readonly timeoutMs?: number;
};

// Three tries of five seconds with the pauses between them, and what the client asks for credentials.
const patienceMs = 20_000;

/**
 * A client of AWS KMS in the region of a key. Credentials come from the default provider chain of AWS clients.
 * @param arn of the key, or of an alias of it
 */
export function createKmsClient(arn: string, { endpoint, timeoutMs = 5_000 }: KmsOptions = {}): KMSClient {
  return new KMSClient({
    region: arn.split(':')[3] ?? '',
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: Math.min(2_000, timeoutMs),
      requestTimeout: timeoutMs,
      // Without it the client only warns, and waits on.
      throwOnRequestTimeout: true,
      socketTimeout: timeoutMs,
    },
  });
}

/**
 * Waits for a call of KMS, within bounds whatever it, or who gives credentials, does.
 * @throws Error when it is late, and inside a transaction
 */
export async function fromKms<T>(call: () => Promise<T>): Promise<T> {
  assertNoTransaction('KMS');
  return inTime(call(), patienceMs, `KMS gave no answer within ${patienceMs} ms`);
}

// Binds a wrapped key to its id: it opens under no other.
const contextOf = (id: string) => ({ tallystick: id });

/** A key of 32 bytes that was encrypted by a symmetric key in KMS. */
export type WrappedKey = { readonly id: string; readonly arn: string; readonly wrapped: Buffer };

/** A wrapped key as a setting has it: `id:kms:arn:base64`. */
export const writeWrappedKey = ({ id, arn, wrapped }: WrappedKey) =>
  `${id}:kms:${arn}:${wrapped.toString('base64')}`;

/** Opens a wrapped key. @throws Error when KMS rejects the call, or gives anything but 32 bytes */
export async function unwrapKey({ id, arn, wrapped }: WrappedKey, options?: KmsOptions): Promise<Buffer> {
  const client = createKmsClient(arn, options);
  try {
    const command = new DecryptCommand({
      KeyId: arn,
      CiphertextBlob: wrapped,
      EncryptionContext: contextOf(id),
    });
    const key = Buffer.from((await fromKms(() => client.send(command))).Plaintext ?? []);
    if (key.length !== 32) throw new Error(`it has ${key.length} bytes, not 32`);
    return key;
  } finally {
    client.destroy();
  }
}

/** Makes a key that only KMS has seen in clear. */
export async function makeWrappedKey(id: string, arn: string, options?: KmsOptions): Promise<WrappedKey> {
  const client = createKmsClient(arn, options);
  try {
    const command = new GenerateDataKeyWithoutPlaintextCommand({
      KeyId: arn,
      KeySpec: 'AES_256',
      EncryptionContext: contextOf(id),
    });
    const wrapped = Buffer.from((await fromKms(() => client.send(command))).CiphertextBlob ?? []);
    if (wrapped.length === 0) throw new Error(`${arn} gave no key.`);
    return { id, arn, wrapped };
  } finally {
    client.destroy();
  }
}
