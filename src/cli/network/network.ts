import type { Command } from 'commander';
import type { Network } from '../../chain/network.ts';
import {
  deleteNetwork,
  findNetwork,
  insertNetwork,
  listNetworks,
  type NewNetwork,
  updateNetwork,
} from '../../chain/network-store.ts';
import { checkNode, NodeCheckError } from '../../chain/rpc/check-node.ts';
import { redactUrl } from '../../log.ts';
import { examples } from '../shared/examples.ts';
import { OperationError, UsageError } from '../shared/failure.ts';
import { asOperator, type Operator, type Session } from '../shared/session.ts';
import { chainId as asChainId } from '../shared/values.ts';
import { assertIndexFits, removeIndex, sayWhatStays } from './network-index.ts';
import { type NetworkOptions, newNetwork, toChanges, withNetworkOptions } from './network-options.ts';
import { addStatusCommand } from './network-status.ts';

const columns = {
  chainId: 'CHAIN ID',
  hexChainId: 'HEX',
  name: 'NAME',
  currencySymbol: 'CURRENCY',
  dataProvider: 'PROVIDER',
  confirmations: 'CONFIRMATIONS',
  rpcUrls: 'NODES',
};

/** `tallystick network`: the networks that the service knows. */
export function addNetworkCommands(program: Command, session: Session): void {
  const network = program.command('network').description('Networks: chains by decimal id, with their nodes');
  addAddCommand(network, session);
  addReadCommands(network, session);
  addStatusCommand(network, session);
  addUpdateCommand(network, session);
  addRemoveCommand(network, session);
}

function addAddCommand(network: Command, session: Session): void {
  const add = network
    .command('add')
    .description('Register a network; every node is asked for its chain id first')
    .argument('<chainId>', 'decimal, such as 137', asChainId);
  withNetworkOptions(add).action((chainId: string, options: NetworkOptions) =>
    asOperator(session, async (operator) => {
      const wanted = newNetwork(chainId, options);
      if ((await findNetwork(operator.db, chainId)) !== undefined) throw registeredAlready(chainId);
      await checkNodes(operator, wanted);
      const added = await insertNetwork(operator.db, wanted);
      if (added === undefined) throw registeredAlready(chainId);
      operator.output.record(shown(added));
    }),
  );
  examples(
    add,
    'network add 137 --name Polygon --symbol POL --rpc https://node.example/key --provider moralis',
    'network add 31337 --name Local --symbol ETH --rpc http://127.0.0.1:8545 --confirmations 1',
    'network add 10 --name Optimism --symbol ETH --rpc https://one.example --rpc wss://two.example',
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
    .description('Show one network; of the URLs of its nodes only the hosts')
    .action((chainId: string) =>
      asOperator(session, async (operator) =>
        operator.output.record(shown(await existingNetwork(operator, chainId))),
      ),
    );
}

function addUpdateCommand(network: Command, session: Session): void {
  const update = network
    .command('update <chainId>')
    .description('Change a network; --rpc replaces all its nodes, which are asked for their chain id first');
  withNetworkOptions(update).action((chainId: string, options: NetworkOptions) =>
    asOperator(session, async (operator) => {
      const present = await existingNetwork(operator, chainId);
      const changes = toChanges(options, present);
      await assertIndexFits(operator, chainId, options.indexFrom);
      if (changes.rpcUrls !== undefined) await checkNodes(operator, { chainId, rpcUrls: changes.rpcUrls });
      const updated = await updateNetwork(operator.db, chainId, changes);
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

function addRemoveCommand(network: Command, session: Session): void {
  network
    .command('remove <chainId>')
    .description('Remove a network that no event and no RWA names, and its index')
    .action((chainId: string) =>
      asOperator(session, async (operator) => {
        const outcome = await deleteNetwork(operator.db, chainId);
        if (outcome === 'missing') unknownNetwork(chainId);
        if (outcome === 'in_use') {
          throw new OperationError(`Network ${chainId} stays: events or RWAs name it. Nothing was changed.`);
        }
        await removeIndex(session, operator, chainId);
        operator.output.record({ chainId, removed: true });
      }),
    );
}

/** Asks all nodes at once. @throws OperationError naming every one that cannot serve the network */
async function checkNodes(
  { config, output }: Operator,
  { chainId, rpcUrls }: Pick<NewNetwork, 'chainId' | 'rpcUrls'>,
): Promise<void> {
  const faults = await Promise.all(
    rpcUrls.map(async (url) => {
      try {
        const { blockNumber } = await checkNode(url, chainId, config.RPC_TIMEOUT_MS);
        output.say(`${redactUrl(url)} serves chain ${chainId}, block ${blockNumber}.`);
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

/** @throws UsageError when the network is not registered */
async function existingNetwork({ db }: Pick<Operator, 'db'>, chainId: string): Promise<Network> {
  return (await findNetwork(db, chainId)) ?? unknownNetwork(chainId);
}

function unknownNetwork(chainId: string): never {
  throw new UsageError(`There is no network ${chainId}. List them with: tallystick network list`);
}

const registeredAlready = (chainId: string) =>
  new UsageError(
    `Network ${chainId} is registered already. Change it with: tallystick network update ${chainId}`,
  );

const shown = ({ rpcUrls, currency, ...network }: Network) => ({
  ...network,
  currencyName: currency.name,
  currencySymbol: currency.symbol,
  currencyDecimals: currency.decimals,
  rpcUrls: rpcUrls.map(redactUrl),
});
