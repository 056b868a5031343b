import { errorText } from '../../base/thrown.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import { nodeAddressesOf, showAddress } from '../../chain/rpc/client/node-address.ts';
import { checkNode } from '../../chain/rpc/transport/check-node.ts';
import { type NodeAbilities, probeNode } from '../../chain/rpc/transport/probe-node.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, finding, ok, warning } from '../shared/finding.ts';

/** Asks every node of a network whether it serves it, and what it gives of blocks, logs and traces. */
export async function examineNodes({ chainId, rpcUrls }: Network, config: Config): Promise<Finding[]> {
  const addresses = nodeAddressesOf(config);
  const found = await Promise.all(
    rpcUrls.map(async (address): Promise<Finding[]> => {
      const check = `network ${chainId}`;
      const serves = await finding(check, async () => {
        const { blockNumber } = await checkNode(addresses.open(address), chainId, config.RPC_TIMEOUT_MS);
        return `${showAddress(address)} is at block ${blockNumber}`;
      });
      if (serves.state === 'FAULT') return [serves];
      const url = addresses.open(address);
      return [serves, await examineAbilities(`node ${chainId}`, showAddress(address), url, config)];
    }),
  );
  return found.flat();
}

async function examineAbilities(check: string, label: string, url: string, config: Config): Promise<Finding> {
  try {
    const abilities = await probeNode(url, config.RPC_TIMEOUT_MS);
    const { finalized, traces, logBlocks } = abilities;
    const detail = [
      label,
      finalized === undefined
        ? 'no finalized block: the depth of the network decides'
        : `finalized ${finalized}`,
      traces === undefined ? 'no traces: internal transfers are not indexed' : `traces by ${traces}`,
      `logs of ${logBlocks} blocks at once`,
    ].join('; ');
    const wrong = faultOf(abilities);
    return wrong === undefined ? ok(check, detail) : warning(check, `${detail}; ${wrong}`);
  } catch (error) {
    return warning(check, `${label} was not tried: ${errorText(error)}`);
  }
}

// What the clocks of validators and the way to here make up.
const mostAheadSeconds = 15;

function faultOf({ headTime, logBlocks }: NodeAbilities): string | undefined {
  if (logBlocks === 0) return 'it gives no logs: use a node that answers eth_getLogs';
  const ahead = headTime === undefined ? 0 : Number(headTime) - Date.now() / 1_000;
  if (ahead <= mostAheadSeconds) return undefined;
  return `its newest block is ${Math.round(ahead)} s in the future: set the clock of this machine, or of the chain`;
}
