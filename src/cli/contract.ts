import type { Command } from 'commander';
import { errorText } from '../base/thrown.ts';
import { metadataBase } from '../chain/contracts/base-uri.ts';
import { openContractAdmin } from '../chain/contracts/contract-admin.ts';
import { checkContract } from '../chain/contracts/contract-check.ts';
import { feeCapOf } from '../chain/minting/fees.ts';
import { listLanes } from '../rwa/minting/lane-status-store.ts';
import { askProbe } from '../rwa/operators/remedies/mint-admin-store.ts';
import { recordByOperator } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { OperationError, UsageError } from './shared/failure.ts';
import { findRegistered } from './shared/find.ts';
import { findNamedSigners } from './shared/named-signers.ts';
import { asOperator, type Operator, type Session } from './shared/session.ts';
import { addressValue, chainId, isLoopback, localChain, webUrl, words } from './shared/values.ts';

type AdminOptions = { keystore: string; passwordFile: string };

export function addContractCommands(program: Command, session: Session): void {
  const contract = program
    .command('contract')
    .description('Manage NFT contracts: deploy, grant and revoke signers, check');
  addDeployCommand(contract, session);
  addGrantCommand(contract, session);
  addRevokeCommand(contract, session);
  addBaseUriCommand(contract, session);
  addRefreshCommand(contract, session);
  addStatusCommand(contract, session);
}

function addDeployCommand(contract: Command, session: Session): void {
  const deploy = withAdmin(contract.command('deploy'))
    .description('Deploy our NFT contract on a network; its admin is the key that deploys it')
    .argument('<chainId>', 'decimal id of a registered network', chainId)
    .requiredOption('--name <name>', 'name of the collection', words(100))
    .requiredOption('--symbol <symbol>', 'its symbol', words(20))
    .action((id: string, { name, symbol, ...keys }: AdminOptions & { name: string; symbol: string }) =>
      asAdmin(session, id, keys, async ({ config, db, output, openAdmin }) => {
        assertPublic(id, config.publicBaseUrl);
        const admin = await openAdmin();
        const about = { chainId: id, admin: admin.address, name, symbol };
        const { contract: deployed } = await onChain(db, 'contract.deploy', about, () =>
          admin.deploy(name, symbol),
        );
        const metadata = metadataBase(config.publicBaseUrl, id, deployed);
        const named = { chainId: id, contract: deployed, metadata };
        await onChain(db, 'contract.set_base_uri', named, () => admin.setBaseUri(deployed, metadata)).catch(
          (cause: unknown) => {
            throw new OperationError(
              `The contract is deployed, at ${deployed}, but its tokens do not name their metadata yet: ${errorText(cause)} ` +
                `Go on with: tallystick contract set-base-uri ${id} ${deployed}`,
              { cause },
            );
          },
        );
        output.record({ chainId: id, contract: deployed, admin: admin.address, metadata });
        output.say(`Next: tallystick contract grant ${id} ${deployed} <signer> …, then`);
        output.say(`tallystick network update ${id} --minter-contract ${deployed}`);
      }),
    );
  examples(deploy, `contract deploy 137 --name 'Acme Casks' --symbol ACME ${adminExample}`);
}

function addBaseUriCommand(contract: Command, session: Session): void {
  const command = onContract(contract, 'set-base-uri')
    .description('Set the address of the metadata of a contract of ours: PUBLIC_BASE_URL, or --base-uri')
    .option('--base-uri <url>', 'address instead of the one from PUBLIC_BASE_URL', webUrl)
    .action((id: string, to: string, { baseUri, ...keys }: AdminOptions & { baseUri?: string }) =>
      asAdmin(session, id, keys, async ({ config, db, output, openAdmin }) => {
        const metadata = baseUri ?? metadataBase(config.publicBaseUrl, id, to);
        assertPublic(id, metadata);
        const admin = await openAdmin();
        const about = { chainId: id, contract: to, metadata };
        await onChain(db, 'contract.set_base_uri', about, () => admin.setBaseUri(to, metadata));
        output.record({ chainId: id, contract: to, metadata });
      }),
    );
  examples(command, `contract set-base-uri 137 0x5FbD…0aa3 ${adminExample}`);
}

function addRefreshCommand(contract: Command, session: Session): void {
  const refresh = onContract(contract, 'refresh')
    .description(
      'Report changed metadata of all tokens of a contract of ours to marketplaces, where its signers may not',
    )
    .action((id: string, to: string, keys: AdminOptions) =>
      asAdmin(session, id, keys, async ({ db, output, openAdmin }) => {
        const admin = await openAdmin();
        const about = { chainId: id, contract: to };
        output.record({
          ...about,
          ...(await onChain(db, 'contract.refresh', about, () => admin.refreshMetadata(to))),
        });
      }),
    );
  examples(refresh, `contract refresh 137 0x5FbD…0aa3 ${adminExample}`);
}

/** @throws UsageError when others could not reach the address, which stands in the contract for good */
function assertPublic(id: string, url: string): void {
  if (id === localChain || !isLoopback(url)) return;
  throw new UsageError(
    `${new URL(url).origin} is this machine only, and the contract would name it for all tokens. ` +
      'Set PUBLIC_BASE_URL to the address under which wallets reach this service.',
  );
}

function addGrantCommand(contract: Command, session: Session): void {
  const grant = onContract(contract, 'grant')
    .description('Allow a signer to mint on a contract of ours')
    .argument('<signer>', 'address of the signer', addressValue)
    .action((id: string, to: string, signer: string, keys: AdminOptions) =>
      asAdmin(session, id, keys, async ({ db, output, openAdmin }) => {
        const admin = await openAdmin();
        if (admin.address === signer)
          throw new UsageError('The admin must not be a signer: use another key.');
        const about = { chainId: id, contract: to, signer };
        await onChain(db, 'contract.grant', about, () => admin.grantMinter(to, signer));
        output.record({ chainId: id, contract: to, minter: signer });
      }),
    );
  examples(grant, `contract grant 137 0x5FbD…0aa3 0x7099…79C8 ${adminExample}`);
}

function addRevokeCommand(contract: Command, session: Session): void {
  const revoke = onContract(contract, 'revoke')
    .description('Revoke the right of a signer to mint on a contract of ours, such as after its key leaked')
    .argument('<signer>', 'address of the signer', addressValue)
    .action((id: string, to: string, signer: string, keys: AdminOptions) =>
      asAdmin(session, id, keys, async ({ db, output, openAdmin }) => {
        const admin = await openAdmin();
        const about = { chainId: id, contract: to, signer };
        await onChain(db, 'contract.revoke', about, () => admin.revokeMinter(to, signer));
        output.record({ chainId: id, contract: to, revoked: signer });
        const lanes = await listLanes(db, { chainId: id, signer });
        const inFlight = lanes.reduce((sum, lane) => sum + lane.inFlight, 0);
        if (inFlight > 0) {
          output.say(`It has ${inFlight} transactions in flight: what they do not mint is queued again.`);
        }
        output.say(
          'Take it out of MINT_SIGNERS of every worker, and stop its lane, which nobody serves then:',
        );
        output.say(`tallystick mint pause --chain ${id} --signer ${signer}`);
      }),
    );
  examples(revoke, `contract revoke 137 0x5FbD…0aa3 0x7099…79C8 ${adminExample}`);
}

function addStatusCommand(contract: Command, session: Session): void {
  const status = contract
    .command('status')
    .description(
      'Check whether NFTs can be minted on a contract, by each signer of the network. ' +
        'If so, and its transactions minted nothing lately, the next one is sent at once',
    )
    .argument('<chainId>', 'decimal id of a registered network', chainId)
    .argument('[contract]', "address of the contract; the network's own by default", addressValue)
    .action((id: string, given: string | undefined) =>
      asOperator(session, async (operator) => {
        const { clients, db, output } = operator;
        const network = await findRegistered(operator, id);
        const checked = given ?? network.minterContract;
        if (checked === null) throw new UsageError(`Network ${id} has no minter contract: name one.`);
        const signers = await knownSigners(operator, id);
        const checks = await checkContract(clients.for(network), checked, signers);
        output.rows(checks, { state: 'STATE', check: 'CHECK', detail: 'DETAIL' });
        if (signers.length === 0)
          output.say(
            'Whether a signer may mint was not examined: no signer of MINT_SIGNERS can be read here, and no worker has started with one.',
          );
        if (checks.some(({ state }) => state === 'FAULT')) return session.fail();
        const asked = await askProbe(db, { chainId: id, contract: checked });
        if (asked.length > 0)
          output.say('Its transactions minted nothing lately: the next one is sent at once.');
      }),
    );
  examples(status, 'contract status 137', 'contract status 137 0x5FbD…0aa3');
}

/**
 * Returns the signers that workers have had on the network, and the signers of the settings, as far as this command can
 * read them.
 */
async function knownSigners(operator: Operator, id: string): Promise<string[]> {
  const named = await findNamedSigners(operator, id, 'whether it may mint is not examined');
  const seen = (await listLanes(operator.db, { chainId: id })).map(({ signer }) => signer);
  return [...new Set([...seen, ...named])];
}

const adminExample = '--keystore admin.json --password-file admin.password';

const withAdmin = (command: Command) =>
  command
    .requiredOption(
      '--keystore <file>',
      "encrypted keystore of the contract's admin, who is no signer of mints",
    )
    .requiredOption('--password-file <file>', 'file with its password');

/** A command of the admin about a contract of ours. */
const onContract = (contract: Command, name: string) =>
  withAdmin(contract.command(name))
    .argument('<chainId>', 'decimal id of a registered network', chainId)
    .argument('<contract>', 'address of the contract', addressValue);

type AdminOperator = Operator & { readonly openAdmin: () => ReturnType<typeof openContractAdmin> };

/** Works as the admin of the contracts of a network, who pays no more for gas than mints do. */
const asAdmin = (
  session: Session,
  id: string,
  keys: AdminOptions,
  work: (operator: AdminOperator) => Promise<void>,
) =>
  asOperator(session, async (operator) => {
    const network = await findRegistered(operator, id);
    const provider = operator.clients.for(network);
    const feeCap = feeCapOf(operator.config.MINT_MAX_FEE_GWEI);
    const options = { ...keys, feeCap, minTip: BigInt(network.minTip) };
    await work({ ...operator, openAdmin: () => openContractAdmin(provider, options) });
  });

type Facts = Readonly<Record<string, string>>;

/**
 * Does something on a chain between two entries in the audit log: that it is asked for, without which it is not done, and
 * that it was done, with its transaction. One without the other shows a command that failed, or was killed.
 */
async function onChain<T extends Facts>(
  db: Operator['db'],
  action: string,
  asked: Facts,
  act: () => Promise<T>,
): Promise<T> {
  const record = (name: string, details: Facts) =>
    recordByOperator(db, { action: name, subject: details['contract'] ?? null, details });
  await record(`${action}_asked`, asked);
  const done = await act();
  await record(action, { ...asked, ...done });
  return done;
}
