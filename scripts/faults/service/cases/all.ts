import type { Fault } from '../fault.ts';
import { companyFloods } from './company-floods.ts';
import { databaseFaults } from './database.ts';
import { failover } from './failover.ts';
import { noisyNeighbour } from './noisy-neighbour.ts';
import { outsideFaults } from './outside.ts';
import { processFaults } from './processes.ts';
import { rollingRestart } from './rolling-restart.ts';

/** Every fault, in the order in which they are run. */
export const allFaults: readonly Fault[] = [
  ...databaseFaults,
  ...outsideFaults,
  failover,
  ...processFaults,
  rollingRestart,
  noisyNeighbour,
  companyFloods,
];

const namesOfSoak = [
  'PostgreSQL killed',
  'connections black-holed',
  'nodes absent',
  'nodes silent',
  'upstream slow',
];

/** The faults that leave the processes as they are. */
export const ofSoak = [...allFaults.filter(({ name }) => namesOfSoak.includes(name)), noisyNeighbour];
