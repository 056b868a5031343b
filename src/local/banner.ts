import path from 'node:path';
import type { Credentials } from './credentials.ts';

/** What is printed once the service is ready. Its six curl lines work as they stand. */
export function banner(credentials: Credentials, file: string): string {
  const { baseUrl, portalUrl, operationsUrl, keys, chainId, rpcUrl } = credentials;
  return [
    '',
    'Tallystick is ready.',
    '',
    `  Service      ${baseUrl}`,
    `  Portal       ${portalUrl}`,
    `  Metrics      ${operationsUrl}/metrics`,
    `  Chain        ${chainId} at ${rpcUrl}`,
    `  Keys         acme        ${keys.acme}`,
    `               globex      ${keys.globex}`,
    `               no company  ${keys.noCompany}`,
    `  In a file    ${path.relative(process.cwd(), file) || file}`,
    '',
    'Try it:',
    '',
    ...examples(credentials).map((line) => `  ${line}`),
    '',
    'Ctrl-C stops it; the next npm start goes on from here, npm start -- --fresh begins anew.',
    '',
  ].join('\n');
}

function examples({ baseUrl, keys, chainId, contracts, wallets }: Credentials): string[] {
  const [wallet = ''] = wallets;
  const blockchain = `${baseUrl}/blockchain/v1/api`;
  const whose = `address=${wallet}&chainId=${chainId}`;
  const balance = `${blockchain}/token/balance?${whose}`;
  return [
    curl(keys.noCompany, `${blockchain}/wallet/history?${whose}&limit=3`),
    curl(keys.noCompany, `${blockchain}/nft?${whose}&limit=3`),
    curl(keys.noCompany, balance),
    curl(keys.noCompany, `${balance}&contractAddress=${contracts['SampleToken']}`),
    curl(keys.acme, `${baseUrl}/events/v1/api/event`),
    curl(keys.acme, `${baseUrl}/v1/api/rwa?isClaimable=true`),
  ];
}

const curl = (key: string, url: string): string => `curl -H 'x-api-key: ${key}' '${url}'`;
