/* Networks that addresses name: the short name of EIP-3770, the chain id, and the name that people know. */

const chains = [
  ['eth', 1, 'Ethereum'],
  ['oeth', 10, 'OP Mainnet'],
  ['bnb', 56, 'BNB Smart Chain'],
  ['gno', 100, 'Gnosis'],
  ['matic', 137, 'Polygon'],
  ['pol', 137, 'Polygon'],
  ['zksync', 324, 'zkSync Era'],
  ['base', 8453, 'Base'],
  ['arb1', 42161, 'Arbitrum One'],
  ['avax', 43114, 'Avalanche'],
  ['celo', 42220, 'Celo'],
  ['linea', 59144, 'Linea'],
  ['sep', 11155111, 'Sepolia'],
];

/** The chain id of a short name; undefined for others. */
export const chainIdOf = (shortName) => (chains.find(([short]) => short === shortName) || [])[1];

/** The name of a network; undefined for those that are not in the table. */
export const chainNameOf = (chainId) => (chains.find(([, id]) => id === chainId) || [])[2];
