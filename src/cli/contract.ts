import type { Command } from 'commander';
import { openContractAdmin } from '../chain/contracts/contract-admin.ts';
import { checkContract } from '../chain/contracts/contract-check.ts';
import { findNetwork } from '../chain/network-store.ts';
import type { RpcClients } from '../chain/rpc/rpc-clients.ts';
import { listLanes } from '../rwa/minting/lane-status-store.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { asOperator, type Operator, type Session } from './shared/session.ts';
import { address, chainId, words } from './shared/values.ts';

type AdminOptions = { keystore: string; passwordFile: string };

/** `tallystick contract`: the contracts that NFTs are minted on. */
export function addContractCommands(program: Command, session: Session): void {
  const contract = program.command('contract').description('NFT contracts: deploy, let signers mint, check');
  addDeployCommand(contract, session);
  addGrantCommand(contract, session);
  addRevokeCommand(contract, session);
  addStatusCommand(contract, session);
}

function addDeployCommand(contract: Command, session: Session): void {
  const deploy = withAdmin(contract.command('deploy'))
    .description('Deploy our NFT contract on a network; its admin is the key that deploys it')
    .argument('<chainId>', 'decimal id of a registered network', chainId)
    .requiredOption('--name <name>', 'name of the collection', words(100))
    .requiredOption('--symbol <symbol>', 'its symbol', words(20))
    .action((id: string, { name, symbol, ...keys }: AdminOptions & { name: string; symbol: string }) =>
      onNetwork(session, id, async ({ config, output }, provider) => {
        const admin = await openContractAdmin(provider, keys);
        const deployed = await admin.deploy(name, symbol);
        const metadata = `${config.publicBaseUrl}/v1/api/metadata/${id}/${deployed}/`;
        await admin.setBaseUri(deployed, metadata);
        output.record({ chainId: id, contract: deployed, admin: admin.address, metadata });
        output.say(`Next: tallystick contract grant ${id} ${deployed} <signer> …, then`);
        output.say(`tallystick network update ${id} --minter-contract ${deployed}`);
      }),
    );
  examples(deploy, `contract deploy 137 --name 'Acme Casks' --symbol ACME ${adminExample}`);
}

function addGrantCommand(contract: Command, session: Session): void {
  const grant = withAdmin(contract.command('grant'))
    .description('Let a signer mint on a contract of ours')
    .argument('<chainId>', 'decimal id of a registered network', chainId)
    .argument('<contract>', 'address of the contract', address)
    .argument('<signer>', 'address of the signer', address)
    .action((id: string, to: string, signer: string, keys: AdminOptions) =>
      onNetwork(session, id, async ({ output }, provider) => {
        const admin = await openContractAdmin(provider, keys);
        if (admin.address === signer)
          throw new UsageError('The admin must not be a signer: use another key.');
        await admin.grantMinter(to, signer);
        output.record({ chainId: id, contract: to, minter: signer });
      }),
    );
  examples(grant, `contract grant 137 0x5FbD…0aa3 0x7099…79C8 ${adminExample}`);
}

function addRevokeCommand(contract: Command, session: Session): void {
  const revoke = withAdmin(contract.command('revoke'))
    .description('Let a signer mint no longer on a contract of ours, such as one whose key is lost or known')
    .argument('<chainId>', 'decimal id of a registered network', chainId)
    .argument('<contract>', 'address of the contract', address)
    .argument('<signer>', 'address of the signer', address)
    .action((id: string, to: string, signer: string, keys: AdminOptions) =>
      onNetwork(session, id, async ({ db, output }, provider) => {
        const admin = await openContractAdmin(provider, keys);
        await admin.revokeMinter(to, signer);
        output.record({ chainId: id, contract: to, revoked: signer });
        const lanes = await listLanes(db, { chainId: id, signer });
        const inFlight = lanes.reduce((sum, lane) => sum + lane.inFlight, 0);
        if (inFlight > 0) {
          output.say(`It has ${inFlight} transactions in flight: what they do not mint is queued again.`);
        }
        output.say('Take it out of MINT_SIGNERS of every worker.');
      }),
    );
  examples(revoke, `contract revoke 137 0x5FbD…0aa3 0x7099…79C8 ${adminExample}`);
}

function addStatusCommand(contract: Command, session: Session): void {
  const status = contract
    .command('status')
    .description('Check whether NFTs can be minted on a contract, by each signer of the network')
    .argument('<chainId>', 'decimal id of a registered network', chainId)
    .argument('[contract]', "address of the contract; the network's own by default", address)
    .action((id: string, given: string | undefined) =>
      onNetwork(session, id, async ({ db, output }, provider, own) => {
        const checked = given ?? own;
        if (checked === null) throw new UsageError(`Network ${id} has no minter contract: name one.`);
        const signers = (await listLanes(db, { chainId: id })).map(({ signer }) => signer);
        const checks = await checkContract(provider, checked, signers);
        output.rows(checks, { state: 'STATE', check: 'CHECK', detail: 'DETAIL' });
        if (signers.length === 0) output.say('No worker has a signer for this network yet (MINT_SIGNERS).');
        if (checks.some(({ state }) => state === 'FAULT')) session.fail();
      }),
    );
  examples(status, 'contract status 137', 'contract status 137 0x5FbD…0aa3');
}

const adminExample = '--keystore admin.json --password-file admin.password';

const withAdmin = (command: Command) =>
  command
    .requiredOption(
      '--keystore <file>',
      "encrypted keystore of the contract's admin, who is no signer of mints",
    )
    .requiredOption('--password-file <file>', 'file with its password');

type Provider = ReturnType<RpcClients['for']>;

function onNetwork(
  session: Session,
  id: string,
  work: (operator: Operator, provider: Provider, minterContract: string | null) => Promise<void>,
): Promise<void> {
  return asOperator(session, async (operator) => {
    const network = await findNetwork(operator.db, id);
    if (network === undefined)
      throw new UsageError(`Network ${id} is not registered. See: tallystick network list`);
    await work(operator, operator.clients.for(network), network.minterContract);
  });
}
