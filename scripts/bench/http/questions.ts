import { basePaths } from '../../../src/contract/documents.ts';
import type { Request } from './connection.ts';
import type { DataSet } from './data-set.ts';
import { treasury } from './fill.ts';
import type { Question } from './rounds.ts';

const { blockchain, events, rwa } = basePaths;

export const balanceQuestions = ({ key }: DataSet): readonly Question[] => [
  read('balance', key, [`${blockchain}/token/balance?chainId=31337&address=${treasury.toLowerCase()}`]),
];

/** Single rows from all over the tables, and pages of their lists. */
export const readQuestions = ({ key, nfts, samples }: DataSet): readonly Question[] => [
  read(
    'event',
    key,
    samples.events.map((id) => `${events}/event/${id}`),
  ),
  read(
    'rwa',
    key,
    samples.rwas.map((id) => `${rwa}/rwa/${id}`),
  ),
  read(
    'nft',
    key,
    samples.nfts.map((id) => `${rwa}/nft/${id}`),
  ),
  read('nfts', key, [`${rwa}/nft?limit=50`]),
  read('nftsDeep', key, [`${rwa}/nft?limit=50&offset=${Math.floor(nfts * 0.9)}`]),
  read('events', key, [`${events}/event?limit=50`]),
  read('rwas', key, [`${rwa}/rwa?limit=50`]),
];

const body = {
  ...{ name: 'Harvest supper', location: 'Long barn', description: 'Supper for holders of tallies.' },
  ...{ startDate: '2027-09-18T19:00:00Z', endDate: '2027-09-19T00:00:00Z', maxAttendees: 50, price: 45.5 },
  ...{ currency: 'EUR', chainId: 31_337 },
};

export const writeQuestions = ({ key, samples }: DataSet): readonly Question[] => [
  write('createEvent', key, [`${events}/event`], JSON.stringify(body)),
  write(
    'addAttendee',
    key,
    samples.events.map((id) => `${events}/event/${id}/attendees`),
    '{"attendeeId":"guest-{n}"}',
  ),
  write(
    'addAttendeeHot',
    key,
    [`${events}/event/${samples.events[0]}/attendees`],
    '{"attendeeId":"guest-{n}"}',
  ),
  {
    ...write(
      'issue100Nfts',
      key,
      samples.rwas.map((id) => `${rwa}/rwa/${id}/nfts`),
      '{"count":100}',
    ),
    status: 200,
  },
];

function read(name: string, key: string, paths: readonly string[]): Question {
  const requests = paths.map((path): Request => ({ method: 'GET', path, headers: { 'x-api-key': key } }));
  return { name, requests, status: 200 };
}

function write(name: string, key: string, paths: readonly string[], json: string): Question {
  const requests = paths.map(
    (path): Request => ({ method: 'POST', path, headers: { 'x-api-key': key }, body: json }),
  );
  return { name, requests, status: 201 };
}
