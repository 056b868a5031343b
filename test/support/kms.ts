import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SigningKey } from 'ethers';

export const kmsArn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
/** The order of secp256k1. */
export const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

// The header that every secp256k1 key has (RFC 5480), then the point.
const spkiHeader = '3056301006072a8648ce3d020106052b8104000a034200';
/** A public key as KMS gives it. */
export const spkiOf = (key: SigningKey): Buffer => Buffer.from(spkiHeader + key.publicKey.slice(2), 'hex');

const integer = (value: bigint) => {
  const hex = value.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  const bytes = Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex');
  return Buffer.concat([Buffer.from([0x02, bytes.length]), bytes]);
};
/** A signature as KMS gives it. */
export const der = (r: bigint, s: bigint): Buffer => {
  const body = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
};

type Asked = { readonly target: string; readonly body: Readonly<Record<string, string>> };

export type TestKms = {
  /** Takes no connections while it is `down`. */
  readonly endpoint: string;
  readonly asked: Asked[];
  /** The one that it gives; that of its key at first. */
  publicKey: Buffer;
  become(state: 'up' | 'silent' | 'refusing' | 'down'): Promise<void>;
  close(): Promise<void>;
};

/** Starts what answers as AWS KMS does, with a key whose every other signature has the high s. */
export async function startKms(privateKey: string): Promise<TestKms> {
  const key = new SigningKey(privateKey);
  const asked: Asked[] = [];
  let present: 'up' | 'silent' | 'refusing' | 'down' = 'up';
  let isHigh = true;

  const sign = (message: string): Buffer => {
    const { r, s } = key.sign(`0x${Buffer.from(message, 'base64').toString('hex')}`);
    const signature = der(BigInt(r), isHigh ? order - BigInt(s) : BigInt(s));
    isHigh = !isHigh;
    return signature;
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    const target = String(request.headers['x-amz-target']);
    asked.push({ target, body });
    if (present === 'silent') return;
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (present === 'refusing') {
      const refusal = {
        __type: 'AccessDeniedException',
        message: 'User is not authorized to perform: kms:Sign',
      };
      response.writeHead(400).end(JSON.stringify(refusal));
      return;
    }
    const about =
      target === 'TrentService.GetPublicKey'
        ? { KeySpec: 'ECC_SECG_P256K1', KeyUsage: 'SIGN_VERIFY', PublicKey: kms.publicKey.toString('base64') }
        : { SigningAlgorithm: 'ECDSA_SHA_256', Signature: sign(body.Message).toString('base64') };
    response.end(JSON.stringify({ KeyId: kmsArn, ...about }));
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const shut = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const kms: TestKms = {
    endpoint: `http://127.0.0.1:${port}`,
    asked,
    publicKey: spkiOf(key),
    async become(state) {
      present = state;
      if (state === 'down') await shut();
      else if (!server.listening) await listen(port);
    },
    close: shut,
  };
  return kms;
}
