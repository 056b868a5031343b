/** A set of real processes, each of which goes wrong in its own way; a test of its own lets the alerts of each fire. */
export type World = 'ill' | 'locked' | 'gone' | 'minting' | 'strained';

/** What lets an alert fire in the tests of live processes. Levels that would take minutes to come are aged in the database. */
type Cause = { readonly world: World; readonly cause: string };

/** Of each alert of rules.yaml, so that one without a cause fails a test. */
export const alertCauses: Readonly<Record<string, Cause>> = {
  TallystickDown: { world: 'gone', cause: 'nothing answers operators' },
  TallystickErrors: { world: 'ill', cause: 'balances of a network whose node is gone' },
  TallystickSlow: { world: 'strained', cause: 'lists of a table that another transaction has locked' },
  TallystickShedding: {
    world: 'strained',
    cause: 'more at once than the process admits while its event loop is late',
  },
  TallystickKeysUnverifiable: { world: 'locked', cause: 'an authentication service that is gone' },
  TallystickEventLoopBusy: { world: 'strained', cause: 'a process that gets no CPU for half a second' },
  TallystickReplicaUnused: { world: 'ill', cause: 'a replica that is gone' },
  TallystickBreakerOpen: { world: 'ill', cause: 'an upstream that answers nothing but 500' },
  TallystickNodeUnfit: { world: 'minting', cause: 'a node of another chain among those of the network' },
  TallystickUpstreamFailing: { world: 'ill', cause: 'an upstream that answers nothing but 500' },
  TallystickMintUnexplained: { world: 'minting', cause: 'a node that swallows every transaction' },
  TallystickMintWaiting: { world: 'minting', cause: 'an NFT whose token id somebody else has' },
  TallystickMintDisagreement: { world: 'minting', cause: 'a row that names another transaction' },
  TallystickMintLanePaused: { world: 'minting', cause: 'a signer that cannot pay, with an NFT to send' },
  TallystickMintLaneUnattended: { world: 'ill', cause: 'a lane whose signer no process has' },
  TallystickMintQueueOld: { world: 'minting', cause: 'an NFT that waits behind a pause, aged by 20 minutes' },
  TallystickMintForeignNonce: { world: 'minting', cause: 'a transaction of the signer that is not ours' },
  TallystickMintSignerLow: { world: 'minting', cause: 'a signer with the least unit left' },
  TallystickMintFailed: { world: 'minting', cause: 'a contract that refuses one recipient' },
  TallystickIndexStuck: { world: 'minting', cause: 'a chain that was begun anew under its index' },
  TallystickIndexSilent: { world: 'ill', cause: 'a node that is gone, last heard of five minutes ago' },
  TallystickIndexStandsStill: { world: 'ill', cause: 'a node whose last new block was twenty minutes ago' },
  TallystickIndexBehind: { world: 'ill', cause: 'a node that is gone, 491 blocks ahead' },
  TallystickJobsFailing: { world: 'strained', cause: 'a job on a table that another transaction has locked' },
  TallystickJobOverdue: { world: 'strained', cause: 'that job, in a queue that was made two hours ago' },
  TallystickNewsUnnumbered: {
    world: 'ill',
    cause: 'news of an hour ago that another transaction has locked',
  },
  TallystickNewsUndelivered: { world: 'ill', cause: 'news of two hours ago for a host that is not public' },
  TallystickOwnershipBehind: { world: 'ill', cause: 'a ledger last read an hour ago, whose node is gone' },
  TallystickLevelsUnreadable: { world: 'strained', cause: 'lanes that another transaction has locked' },
};

/** Alerts of a world, in the order of their names. */
export const alertsOf = (world: World): string[] =>
  Object.entries(alertCauses)
    .filter(([, each]) => each.world === world)
    .map(([name]) => name)
    .toSorted();
