import type { Network } from '../../chain/rpc/client/network.ts';
import type { Database } from '../../contract/transaction.ts';
import { listProcesses, type SeenProcess } from '../../db/records/process-store.ts';
import { type Finding, fault, ok, warning } from '../shared/finding.ts';

/** Whether each role that these networks need has a process with a heartbeat in the last minute. */
export async function examineProcesses(db: Database, networks: readonly Network[]): Promise<Finding[]> {
  const processes = await listProcesses(db);
  const roles = [
    'api',
    ...(networks.some(({ minterContract }) => minterContract !== null) ? ['worker'] : []),
    ...(networks.some(({ dataProvider }) => dataProvider === 'indexer') ? ['indexer'] : []),
  ];
  return roles.map((role) =>
    examineRole(
      role,
      processes.filter((each) => each.roles.includes(role)),
    ),
  );
}

function examineRole(role: string, processes: readonly SeenProcess[]): Finding {
  const check = `role ${role}`;
  const present = processes.filter(({ isSilent }) => !isSilent);
  if (present.length > 0) return ok(check, present.map(inWords).join('; '));
  const remedy = `start one with ROLES=${role}`;
  const last = processes.toSorted((one, other) => Number(other.seenAt) - Number(one.seenAt))[0];
  if (last === undefined) return warning(check, `no process has this role: ${remedy}`);
  return fault(
    check,
    `no heartbeat for a minute; the last was of ${last.name} at ${last.seenAt.toISOString()}: see its log, or ${remedy}`,
  );
}

const inWords = ({ name, version, startedAt }: SeenProcess) =>
  `${name}, ${version}, since ${startedAt.toISOString()}`;
