import type { LoadTask } from '../load/load-process.ts';
import type { Company } from '../load/world.ts';

type Requests = LoadTask['requests'];

const newEvent = {
  name: 'Harvest supper',
  location: 'Long barn',
  maxAttendees: 50,
  price: 45.5,
  currency: 'EUR',
};
const creation = { path: '/events/v1/api/event', body: JSON.stringify(newEvent) };

type Kind = { readonly name: string; readonly about: string; readonly requests: Requests };

/** The cheapest that a company asks: one event, by its id. */
export const cheapest = ({ events }: Company): Requests =>
  events.map((id) => ({ path: `/events/v1/api/event/${id}` }));

/** What a process is overloaded with: the mixture of the faults, of all that needs no node, then its costliest and its cheapest. */
export function overloadKinds(company: Company): readonly Kind[] {
  const nfts = company.rwas.map((id) => ({ path: `/v1/api/rwa/${id}/nfts?limit=20` }));
  const mixed = interleaved([
    { of: [{ path: '/events/v1/api/event?limit=20' }], times: 8 },
    { of: cheapest(company), times: 10 },
    { of: [{ path: '/v1/api/rwa' }], times: 6 },
    { of: nfts, times: 6 },
    { of: [creation], times: 5 },
  ]);
  return [
    { name: 'mixed', about: 'Mixed: lists, single rows and new events', requests: mixed },
    { name: 'writes', about: 'Writes: new events', requests: [creation] },
    { name: 'reads', about: 'Reads: one event', requests: cheapest(company) },
  ];
}

/** Each so many times in a round, evenly spread. */
function interleaved(kinds: readonly { readonly of: Requests; readonly times: number }[]): Requests {
  const placed = kinds.flatMap(({ of, times }) =>
    Array.from({ length: times }, (_, index) => ({
      request: of[index % of.length],
      at: (index + 0.5) / times,
    })),
  );
  return placed
    .toSorted((one, other) => one.at - other.at)
    .flatMap(({ request }) => (request === undefined ? [] : [request]));
}
