/**
 * A part of a statement, for WITH RECURSIVE: `named (contract)`, the contracts that RWAs of the network `:chainId`
 * name, also of archived RWAs. It hops from one to the next in an index, however many RWAs there are; its last row is
 * null.
 */
export const namedContracts = `named (contract) AS (
  (SELECT contract_address FROM rwas WHERE chain_id = :chainId ORDER BY contract_address LIMIT 1)
  UNION ALL
  SELECT (SELECT contract_address FROM rwas WHERE chain_id = :chainId AND contract_address > n.contract
    ORDER BY contract_address LIMIT 1)
  FROM named n WHERE n.contract IS NOT NULL)`;
