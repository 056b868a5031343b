import type { Callee } from '../../../outgoing/callee.ts';
import type { Outgoing } from '../../../outgoing/outgoing.ts';
import { ForbiddenHostError } from '../../../outgoing/public-address.ts';

/** The hosts of metadata, each a callee of its own: a host that is out does not delay another. */
export type MetadataHosts = {
  /** @throws ForbiddenHostError for a host that is not allowed */
  of(url: URL): Callee;
};

type HostOptions = {
  readonly outgoing: Outgoing;
  /** The operator's own hosts, with their ports, which may be private and use plain http. */
  readonly allowedHosts: ReadonlySet<string>;
};

// Contracts choose hosts, so there may be any number of them.
const mostHosts = 500;
const maxConcurrent = 16;

export function createMetadataHosts({ outgoing, allowedHosts }: HostOptions): MetadataHosts {
  // A Map iterates in the order of insertion: the first host was asked longest ago.
  const known = new Map<string, Callee>();

  const open = (origin: string, isPublicOnly: boolean): Callee => {
    const [oldest] = known;
    if (known.size >= mostHosts && oldest !== undefined) {
      const [name, callee] = oldest;
      known.delete(name);
      callee.close();
    }
    // Names that strangers choose are no labels.
    const label = isPublicOnly ? '' : origin;
    return outgoing.open({ kind: 'metadata', label, maxConcurrent, isPublicOnly });
  };

  return {
    of({ protocol, host, origin }) {
      const isAllowed = allowedHosts.has(host);
      if (protocol !== 'https:' && !(isAllowed && protocol === 'http:')) {
        throw new ForbiddenHostError(`${protocol} is not fetched`);
      }
      const callee = known.get(origin) ?? open(origin, !isAllowed);
      known.delete(origin);
      known.set(origin, callee);
      return callee;
    },
  };
}
