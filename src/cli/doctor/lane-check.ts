import type { Network } from '../../chain/rpc/client/network.ts';
import { listLanes } from '../../rwa/minting/lane-status-store.ts';
import { needsHelp } from '../../rwa/minting/mint-reason.ts';
import { type Finding, fault, warning } from '../shared/finding.ts';
import { laneWords, unregisteredSigners } from '../shared/lane-words.ts';
import type { DoctorParts } from './doctor-parts.ts';

/**
 * A finding for each lane that does not send, in the words of `mint list`, and for each signer of the settings whose network is
 * not registered. A lane with work is a fault, unless it goes on by itself.
 */
export async function examineLanes(
  { db, config }: DoctorParts,
  networks: readonly Network[],
): Promise<Finding[]> {
  const lanes = await listLanes(db, {}, 0);
  return [
    ...unregisteredSigners(config, networks).map((words) => warning('signers', words)),
    ...lanes.flatMap((lane) => {
      const words = laneWords(lane);
      if (words === undefined || lane.paused === null) return [];
      const hasWork = lane.oldestQueuedAt !== null || lane.inFlight > 0;
      const report = hasWork && needsHelp(lane.paused) ? fault : warning;
      return [report(`lane ${lane.chainId}`, words)];
    }),
  ];
}
