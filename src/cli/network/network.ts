import type { Command } from 'commander';
import {
  deleteNetwork,
  findNetwork,
  insertNetwork,
  listNetworks,
  type NewNetwork,
  updateNetwork,
} from '../../chain/network-store.ts';
import { isChainId, type Network } from '../../chain/rpc/client/network.ts';
import { isInClear, nodeAddressesOf, showAddress } from '../../chain/rpc/client/node-address.ts';
import { checkNode, NodeCheckError } from '../../chain/rpc/transport/check-node.ts';
import { findIndexState } from '../../providers/indexer/store/write/index-state-store.ts';
import { audited, recordByOperator } from '../shared/audited.ts';
import { examples } from '../shared/examples.ts';
import { OperationError, UsageError } from '../shared/failure.ts';
import { findRegistered, unknownNetwork } from '../shared/find.ts';
import { asOperator, type Operator, type Session } from '../shared/session.ts';
import { chainId as asChainId } from '../shared/values.ts';
import { assertIndexFits, removeIndex, sayWhatStays } from './network-index.ts';
import { type NetworkOptions, newNetwork, toChanges, withNetworkOptions } from './network-options.ts';
import { addNetworkStatusCommand } from './network-status.ts';

const columns = {
  chainId: 'CHAIN ID',
  hexChainId: 'HEX',
  name: 'NAME',
  currencySymbol: 'CURRENCY',
  dataProvider: 'PROVIDER',
  confirmations: 'CONFIRMATIONS',
  rpcUrls: 'NODES',
};

export function addNetworkCommands(program: Command, session: Session): void {
  const network = program
    .command('network')
    .description('Manage networks: chains by decimal id, with their nodes');
  addAddCommand(network, session);
  addReadCommands(network, session);
  addNetworkStatusCommand(network, session);
  addUpdateCommand(network, session);
  addSealCommand(network, session);
  addRemoveCommand(network, session);
}

function addAddCommand(network: Command, session: Session): void {
  const add = network
    .command('add')
    .description('Register a network. Each node must first show its chain id')
    .argument('<chainId>', 'decimal, such as 137', asChainId);
  withNetworkOptions(add).action((chainId: string, options: NetworkOptions) =>
    asOperator(session, async (operator) => {
      const wanted = newNetwork(chainId, options);
      if ((await findNetwork(operator.db, chainId)) !== undefined) throw registeredAlready(chainId);
      await checkNodes(operator, wanted);
      const sealed = { ...wanted, rpcUrls: sealNew(operator, wanted.rpcUrls, options) };
      const added = await audited(
        operator.db,
        (tx) => insertNetwork(tx, sealed),
        networkEntry('network.add'),
      );
      if (added === undefined) throw registeredAlready(chainId);
      operator.output.record(shown(added));
    }),
  );
  examples(
    add,
    'network add 137 --name Polygon --symbol POL --rpc https://node.example/key --provider moralis',
    'network add 31337 --name Local --symbol ETH --rpc http://127.0.0.1:8545 --confirmations 1',
    'network add 10 --name Optimism --symbol ETH --rpc https://one.example --rpc https://two.example',
  );
}

function addReadCommands(network: Command, session: Session): void {
  network
    .command('list')
    .description('List all networks')
    .action(() =>
      asOperator(session, async ({ db, output }) =>
        output.rows((await listNetworks(db)).map(shown), columns),
      ),
    );

  network
    .command('show <chainId>')
    .description('Show one network, with the hosts of its nodes')
    .action((chainId: string) =>
      asOperator(session, async (operator) =>
        operator.output.record(shown(await findRegistered(operator, chainId))),
      ),
    );
}

function addUpdateCommand(network: Command, session: Session): void {
  const update = network
    .command('update <chainId>')
    .description('Change a network. --rpc replaces all its nodes, which must first show their chain id');
  withNetworkOptions(update).action((chainId: string, options: NetworkOptions) =>
    asOperator(session, async (operator) => {
      const present = await findRegistered(operator, chainId);
      const changes = toChanges(options, present);
      await assertIndexFits(operator, chainId, options.indexFrom);
      if (changes.rpcUrls !== undefined) await checkNodes(operator, { chainId, rpcUrls: changes.rpcUrls });
      const rpcUrls =
        changes.rpcUrls === undefined
          ? sealAll(operator, present.rpcUrls)
          : sealNew(operator, changes.rpcUrls, options);
      const updated = await audited(
        operator.db,
        (tx) => updateNetwork(tx, chainId, { ...changes, rpcUrls }),
        networkEntry('network.update', Object.keys(options)),
      );
      operator.output.record(shown(updated ?? unknownNetwork(chainId)));
      await sayWhatStays(operator, present, changes.dataProvider);
    }),
  );
  examples(
    update,
    'network update 137 --rpc https://new.example/key --rpc https://spare.example',
    'network update 31337 --minter-contract 0x5FbDB2315678afecb367f032d93F642f64180aa3',
  );
}

function addSealCommand(network: Command, session: Session): void {
  network
    .command('seal')
    .description(
      'Seal the credentials in the addresses of all nodes with the first key of NODE_KEYS, or of SECRET_KEYS without those',
    )
    .action(() =>
      asOperator(session, async (operator) => {
        const { NODE_KEYS, SECRET_KEYS } = operator.config;
        if (NODE_KEYS === undefined && SECRET_KEYS === undefined) {
          throw new UsageError('NODE_KEYS is missing: addresses are sealed with it.');
        }
        const sealed: { chainId: string; sealed: number }[] = [];
        for (const { chainId, rpcUrls } of await listNetworks(operator.db)) {
          const after = sealAll(operator, rpcUrls);
          const changed = after.filter((address, index) => address !== rpcUrls[index]).length;
          if (changed > 0) {
            await audited(
              operator.db,
              (tx) => updateNetwork(tx, chainId, { rpcUrls: after }),
              networkEntry('network.seal'),
            );
          }
          sealed.push({ chainId, sealed: changed });
        }
        operator.output.rows(sealed, { chainId: 'CHAIN ID', sealed: 'SEALED' });
        operator.output.say('Processes of a release before this one cannot open sealed addresses.');
      }),
    );
}

/** Seals the credentials of addresses that are given. @throws UsageError where that cannot be, and was not asked for */
function sealNew(
  operator: Operator,
  rpcUrls: readonly string[],
  { inClear }: NetworkOptions,
): readonly string[] {
  const { seal } = nodeAddressesOf(operator.config);
  if (inClear !== true && rpcUrls.map(seal).some(isInClear)) {
    throw new UsageError(
      'An address has a user, a path or a query, which may be credentials, and without NODE_KEYS nothing seals them. ' +
        'Set NODE_KEYS, name a file with the address (--rpc file:/path), or say --in-clear.',
    );
  }
  return sealAll(operator, rpcUrls);
}

/** Seals the credentials of addresses, and says so where that cannot be. */
function sealAll({ config, output }: Operator, rpcUrls: readonly string[]): readonly string[] {
  const { seal } = nodeAddressesOf(config);
  const sealed = rpcUrls.map(seal);
  if (sealed.some(isInClear)) {
    output.say('Credentials in an address stay in clear: without NODE_KEYS nothing seals them.');
  }
  return sealed;
}

function addRemoveCommand(network: Command, session: Session): void {
  network
    .command('remove <chainId>')
    .description(
      'Remove a network that no event and no RWA names, and its index. Run it again to delete an index that was left',
    )
    .action((chainId: string) =>
      asOperator(
        session,
        async (operator) => {
          await removeEntry(operator, chainId);
          await removeIndex(session, operator, chainId);
          operator.output.record({ chainId, removed: true });
        },
        { isWhole: true },
      ),
    );
}

/**
 * Removes the network itself, which an indexer must see before its index can go. Where an earlier run did that and no more,
 * only the index is left.
 */
async function removeEntry({ db }: Operator, chainId: string): Promise<void> {
  const outcome = await audited(
    db,
    (tx) => deleteNetwork(tx, chainId),
    (done) => (done === 'deleted' ? { action: 'network.remove', subject: chainId } : undefined),
  );
  if (outcome === 'in_use') {
    throw new OperationError(`Network ${chainId} stays: events or RWAs name it. Nothing was changed.`);
  }
  if (outcome === 'deleted') return;
  const hasIndex = isChainId(chainId) && (await findIndexState(db, chainId)) !== undefined;
  if (!hasIndex) unknownNetwork(chainId);
  await recordByOperator(db, { action: 'index.reset', subject: chainId });
}

/** Asks all nodes at once. @throws OperationError naming every node that cannot serve the network */
async function checkNodes(
  { config, output }: Operator,
  { chainId, rpcUrls }: Pick<NewNetwork, 'chainId' | 'rpcUrls'>,
): Promise<void> {
  const faults = await Promise.all(
    rpcUrls.map(async (url) => {
      try {
        const opened = nodeAddressesOf(config).open(url);
        const { blockNumber } = await checkNode(opened, chainId, config.RPC_TIMEOUT_MS);
        output.say(`${showAddress(url)} serves chain ${chainId}, block ${blockNumber}.`);
        return [];
      } catch (error) {
        if (error instanceof NodeCheckError) return [error.message];
        throw error;
      }
    }),
  );
  const found = faults.flat();
  if (found.length > 0) throw new OperationError([...found, 'Nothing was changed.'].join('\n'));
}

const registeredAlready = (chainId: string) =>
  new UsageError(
    `Network ${chainId} is registered already. Change it with: tallystick network update ${chainId}`,
  );

/** Returns the entry of a change of a network. Addresses are shown as people see them. */
const networkEntry =
  (action: string, changed: readonly string[] = []) =>
  (network: Network | undefined) =>
    network && {
      action,
      subject: network.chainId,
      details: { nodes: network.rpcUrls.map(showAddress), minterContract: network.minterContract, changed },
    };

const shown = ({ rpcUrls, currency, ...network }: Network) => ({
  ...network,
  currencyName: currency.name,
  currencySymbol: currency.symbol,
  currencyDecimals: currency.decimals,
  rpcUrls: rpcUrls.map(showAddress),
});
