import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { makeWrappedKey, writeWrappedKey } from '../chain/kms-client.ts';
import { examples } from './shared/examples.ts';
import { OperationError } from './shared/failure.ts';
import type { Session } from './shared/session.ts';

export function addSecretKeyCommands(program: Command, session: Session): void {
  const key = program
    .command('secret-key')
    .description('Create keys for the settings SECRET_KEYS, NODE_KEYS and CURSOR_KEYS');
  const make = key
    .command('new')
    .description('Create a key and print it in the form of these settings. Nothing is stored')
    .argument('<id>', 'its id, which no other key ever had', keyId)
    .option('--kms <arn>', 'wrap it with this symmetric key in AWS KMS, so that nobody sees it', kmsArn)
    .action(async (id: string, { kms }: { kms?: string }) => {
      const entry =
        kms === undefined ? `${id}:${randomBytes(32).toString('base64')}` : await wrapped(id, kms);
      session.output().record({ id, entry });
      if (kms === undefined) session.output().say('Keep it now, where only the service reads it.');
    });
  examples(
    make,
    'secret-key new 2027 --json | jq -r .entry >> /etc/tallystick/secret-keys',
    'secret-key new 2027 --kms arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
  );
}

async function wrapped(id: string, arn: string): Promise<string> {
  try {
    return writeWrappedKey(await makeWrappedKey(id, arn));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    throw new OperationError(`The KMS key ${arn} cannot be used: ${reason}`, { cause });
  }
}

function keyId(text: string): string {
  if (/^[A-Za-z0-9_-]{1,32}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 32 letters, digits, _ or -.');
}

function kmsArn(text: string): string {
  if (/^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d+:(key|alias)\/[^:,]+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the ARN of a key in AWS KMS, or of an alias of one.');
}
