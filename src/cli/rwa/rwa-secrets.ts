import type { Command } from 'commander';
import { resealEndpoints } from '../../news/endpoints/endpoint-keys.ts';
import { createEndpointSecrets } from '../../news/endpoints/endpoint-secret.ts';
import { NftMintedError, reissueSecret } from '../../rwa/operators/secret-reissue-store.ts';
import { rotateSecrets } from '../../rwa/operators/secret-rotation-store.ts';
import { audited, recordByOperator } from '../shared/audited.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import { vaultOf } from '../shared/find.ts';
import { asOperator, type Session } from '../shared/session.ts';
import { isUuid } from '../shared/values.ts';

export function addSecretCommands(rwa: Command, session: Session): void {
  addReissueCommand(rwa, session);
  addRotateCommand(rwa, session);
}

function addReissueCommand(rwa: Command, session: Session): void {
  const reissue = rwa
    .command('reissue-secret <nftId>')
    .description('Give an NFT a new claim secret and print it; the old one stops working at once')
    .action((nftId: string) =>
      asOperator(session, async (operator) => {
        const { db, config, output } = operator;
        const vault = vaultOf(operator);
        const reissued = isUuid(nftId)
          ? await audited(
              db,
              (tx) => reissueSecret(tx, vault, nftId, config.claimBaseUrl),
              (done) => done && { action: 'rwa.reissue_secret', subject: nftId },
            ).catch(explainMinted)
          : undefined;
        if (reissued === undefined) {
          throw new UsageError(`There is no NFT ${nftId}. Find its id with: tallystick rwa export <rwaId>`);
        }
        output.record(reissued);
      }),
    );
  examples(reissue, 'rwa reissue-secret 8a1d0f0e-2f6b-4d35-8d92-5d8a6b0f7c11');
}

function explainMinted(error: unknown): never {
  if (error instanceof NftMintedError) throw new UsageError(`${error.message} Nothing was changed.`);
  throw error;
}

function addRotateCommand(rwa: Command, session: Session): void {
  const rotate = rwa
    .command('rotate-secrets')
    .description(
      'Re-encrypt every claim secret, and the secrets of endpoints, under the first key of SECRET_KEYS, while the service runs',
    )
    .action(() =>
      asOperator(
        session,
        async (operator) => {
          const { config, db, output } = operator;
          const vault = vaultOf(operator);
          const details = { keyId: vault.activeKeyId };
          await recordByOperator(db, { action: 'rwa.rotate_secrets', subject: null, details });
          const progress = output.progress('Re-encrypting');
          const onProgress = progress.update;
          const { rotated, failed } = await rotateSecrets(db, vault, { onProgress }).finally(progress.stop);
          const endpoints = await resealEndpoints(db, createEndpointSecrets(config.SECRET_KEYS ?? new Map()));
          output.record({ rotated, failed, endpoints });
          if (failed.length + endpoints.failed.length === 0) return;
          output.say('What does not open stays as it is. New secrets: tallystick rwa reissue-secret <nftId>');
          if (endpoints.failed.length > 0)
            output.say('Of endpoints: tallystick news rotate-secret <endpointId>');
          session.fail();
        },
        { isWhole: true },
      ),
    );
  rotate.addHelpText(
    'after',
    `
To replace a key:
  1. Put the new key behind the old one in SECRET_KEYS of every process, and restart them one after the other: all can
     open then what the first of them seals with it.
  2. Put the new key in front, keep the old one behind it, and restart them again.
  3. Run this command with these settings; when it is interrupted, run it again.
  4. Remove the old key from SECRET_KEYS; tallystick doctor says whether it is still needed.`,
  );
}
