import type { Logger } from '../../base/log.ts';
import type { Connections } from '../../compose/connections.ts';
import type { Config } from '../../config/config.ts';

/** What the checks work with. */
export type DoctorParts = Connections & {
  readonly config: Config;
  readonly log: Logger;
  /** Whether these are the settings of the service that `npm start` made, which has its signer from there. */
  readonly isLocal: boolean;
};
