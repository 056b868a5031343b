import { callerFaults } from './cases/callers.ts';
import { databaseFaults } from './cases/database.ts';
import { failover } from './cases/failover.ts';
import { hogFaults } from './cases/hogs.ts';
import { neighbourFaults } from './cases/neighbours.ts';
import { nodeFaults } from './cases/nodes.ts';
import { outsideFaults } from './cases/outside.ts';
import { processFaults } from './cases/processes.ts';
import { replicaFaults } from './cases/replicas.ts';
import type { Fault } from './fault.ts';

/** Every fault, in the order in which they are run. */
export const allFaults: readonly Fault[] = [
  ...databaseFaults,
  ...replicaFaults,
  ...nodeFaults,
  ...outsideFaults,
  ...processFaults,
  ...callerFaults,
  ...neighbourFaults,
  ...hogFaults,
  failover,
];
