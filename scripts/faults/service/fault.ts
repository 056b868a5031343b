import type { ApiChange, Fleet } from '../../load/fleet.ts';
import type { Ledger } from '../../load/ledger.ts';
import type { Surroundings } from '../../load/surroundings.ts';
import type { World } from '../../load/world.ts';

/** The target of a fault: the service under load, and all its surroundings. */
export type Stage = {
  readonly around: Surroundings;
  readonly service: Fleet;
  readonly world: World;
  readonly ledger: Ledger;
};

/** From when to when something went on, in milliseconds of `performance.now()`. */
export type Part = { readonly name: string; readonly from: number; readonly to: number };

/** The demands of a fault in addition to the answers. */
export type Aftermath = {
  /** Whether something shows that it happened: a fault that does nothing would always pass. */
  readonly acted: boolean;
  /** Further demands that are not met, in words. */
  readonly violations?: readonly string[];
  /** Moments between which accepted writes are lost by the fault itself. */
  readonly lossBetween?: readonly [number, number];
  /** When it was over, where ending it took some time. */
  readonly endedAt?: number;
  /** In each of which the neighbour is to notice nothing. */
  readonly parts?: readonly Part[];
  /** Further observations, for the table. */
  readonly note?: string;
};

/** Something that goes wrong for a while under load. */
export type Fault = {
  readonly name: string;
  /** What it is like, in a few words. */
  readonly about: string;
  /** How long it lasts after it was begun. */
  readonly seconds: number;
  /** How the replicas of callers run meanwhile. */
  readonly change?: (stage: Stage) => ApiChange;
  /** Why it cannot be caused on this machine; undefined where it can. */
  readonly missing?: (stage: Stage) => string | undefined;
  /** What must be there before. @returns what removes it */
  readonly prepare?: (stage: Stage) => Promise<() => Promise<void>>;
  /** Begins it. @returns what ends it */
  readonly begin: (stage: Stage) => Promise<() => Promise<Aftermath>>;
  /** It never ends, so that the service is expected to recover while it lasts. */
  readonly isLasting?: true;
  /** How long the service may take to recover, where that is more than usual. */
  readonly recoveryMs?: number;
  /** The company that is to notice nothing, while another company is the fault. */
  readonly neighbour?: string;
  /** Requests that a killed process was at are cut. */
  readonly cuts?: true;
  /** Callers are to notice nothing at all: neither busy nor unavailable. */
  readonly servesAll?: true;
  /** Connections that it opens to each process. */
  readonly connections?: number;
};
