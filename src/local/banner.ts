import path from 'node:path';
import type { Credentials } from './credentials.ts';

/** Returns the text that is printed once the service is ready. Its six curl lines need the two exports before them. */
export function banner(credentials: Credentials, file: string): string {
  const { baseUrl, portalUrl, operationsUrl, keys, chainId, rpcUrl } = credentials;
  return [
    '',
    'Tallystick is ready. Paste these lines into another terminal first:',
    '',
    `  export TALLYSTICK=${baseUrl}`,
    `  export TALLYSTICK_KEY=${keys.acme}`,
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
    'Then try it:',
    '',
    ...examples(credentials).map((line) => `  ${line}`),
    '',
    'Ctrl-C stops it. npm start goes on from here; npm start -- --fresh deletes the data first.',
    '',
  ].join('\n');
}

function examples({ chainId, contracts, wallets }: Credentials): string[] {
  const [wallet = ''] = wallets;
  const whose = `address=${wallet}&chainId=${chainId}`;
  return [
    `/blockchain/v1/api/wallet/history?${whose}&limit=3`,
    `/blockchain/v1/api/nft?${whose}&limit=3`,
    `/blockchain/v1/api/token/balance?${whose}`,
    `/blockchain/v1/api/token/balance?${whose}&contractAddress=${contracts['SampleToken']}`,
    '/events/v1/api/event',
    '/v1/api/rwa?isClaimable=true',
  ].map((path) => `curl -H "x-api-key: $TALLYSTICK_KEY" "$TALLYSTICK${path}"`);
}
