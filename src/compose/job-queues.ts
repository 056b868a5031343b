import type { QueueNames } from '../jobs/queue.ts';
import { sendQueue } from '../news/endpoints/send-queue.ts';
import { mintQueue } from '../rwa/minting/accept/mint-queue.ts';

/** Jobs that run by the clock. */
export const [purgeQueue, auditQueue] = ['purge-expired', 'chain-audit'] as const;

/** All queues of the service. `tallystick migrate` creates them, because the users of the roles may not. */
export const jobQueues: QueueNames = { keyed: [mintQueue, sendQueue], scheduled: [purgeQueue, auditQueue] };
