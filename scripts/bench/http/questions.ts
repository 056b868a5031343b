import { dataSlice, getAddress, id } from 'ethers';
import { basePaths } from '../../../src/contract/documents.ts';
import type { Request } from './connection.ts';
import type { DataSet } from './data-set.ts';
import { treasury } from './fill.ts';
import type { Question } from './rounds.ts';

const { blockchain, events, rwa } = basePaths;

const wallets = 200;

/** Balances of many wallets, a quarter of which are named with their checksum, as people paste them. */
export const balanceQuestions = ({ key }: DataSet): readonly Question[] => {
  const addresses = Array.from({ length: wallets }, (_, index) => {
    const address = index === 0 ? treasury : getAddress(dataSlice(id(`wallet ${index}`), 12));
    return index % 4 === 0 ? address : address.toLowerCase();
  });
  const paths = addresses.map((address) => `${blockchain}/token/balance?chainId=31337&address=${address}`);
  return [{ ...read('dispatchToFastify', key, paths), differs: ['updatedAt'] }];
};

/** Single rows from all over the tables, and pages of their lists. */
export const readQuestions = ({ key, nfts, samples }: DataSet): readonly Question[] => [
  read(
    'event',
    key,
    samples.events.map((event) => `${events}/event/${event}`),
  ),
  read(
    'rwa',
    key,
    samples.rwas.map((asset) => `${rwa}/rwa/${asset}`),
  ),
  read(
    'nft',
    key,
    samples.nfts.map((nft) => `${rwa}/nft/${nft}`),
  ),
  list('nfts', key, `${rwa}/nft?limit=50`),
  list('nftsDeep', key, `${rwa}/nft?limit=50&offset=${Math.floor(nfts * 0.9)}`),
  list('events', key, `${events}/event?limit=50`),
  list('rwas', key, `${rwa}/rwa?limit=50`),
];

const body = {
  name: 'Harvest supper',
  location: 'Long barn',
  description: 'Supper for holders of tallies.',
  startDate: '2027-09-18T19:00:00Z',
  endDate: '2027-09-19T00:00:00Z',
  maxAttendees: 50,
  price: 45.5,
  currency: 'EUR',
  chainId: 31_337,
};

export const writeQuestions = ({ key, samples }: DataSet): readonly Question[] => [
  write('createEvent', key, [`${events}/event`], JSON.stringify(body)),
  write(
    'addAttendee',
    key,
    samples.events.map((event) => `${events}/event/${event}/attendees`),
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
      samples.rwas.map((asset) => `${rwa}/rwa/${asset}/nfts`),
      '{"count":100}',
    ),
    status: 200,
  },
];

function read(name: string, key: string, paths: readonly string[]): Question {
  const requests = paths.map((path): Request => ({ method: 'GET', path, headers: { 'x-api-key': key } }));
  return { name, requests, status: 200 };
}

/** Lists have bounds of their own, by what they do not grow with. The peer has no cursors. */
const list = (name: string, key: string, path: string): Question => ({
  ...read(name, key, [path]),
  isOnlyTold: true,
  differs: ['cursor'],
});

function write(name: string, key: string, paths: readonly string[], json: string): Question {
  const requests = paths.map(
    (path): Request => ({ method: 'POST', path, headers: { 'x-api-key': key }, body: json }),
  );
  return { name, requests, status: 201 };
}
