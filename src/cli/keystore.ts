import type { Command } from 'commander';
import { examples } from './shared/examples.ts';
import { createKeystoreFile } from './shared/keystore-file.ts';
import type { Session } from './shared/session.ts';

export function addKeystoreCommands(program: Command, session: Session): void {
  const keystore = program
    .command('keystore')
    .description('Create encrypted files of keys, for signers and for admins of contracts');
  const make = keystore
    .command('new <file>')
    .description('Create a key and write it to a new encrypted file. No file is overwritten')
    .requiredOption(
      '--password-file <file>',
      'file with the password; a missing file is created with a random password',
    )
    .action(async (file: string, { passwordFile }: { passwordFile: string }) => {
      const address = await createKeystoreFile({ keystore: file, passwordFile });
      session.output().record({ address, keystore: file, passwordFile });
      session.output().say('Keep a copy of both files, apart from each other.');
    });
  examples(make, 'keystore new admin.json --password-file admin.password');
}
