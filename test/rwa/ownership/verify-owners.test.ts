import { expect } from 'vitest';
import { commandLine, settingsFor } from '../../cli/command-line.ts';
import { follow, issue, mint, test, wallets } from './ownership-setup.ts';

const [alice, bob] = wallets;

test('mint verify reports a contract that moves tokens without Transfer, and nothing of tokens that it moves with it', async ({
  service,
  tokens,
}) => {
  const { nfts } = await issue(service, tokens.contract, 3);
  const [silent, moved, burned] = nfts;
  if (!silent || !moved || !burned) throw new Error('too few');
  await mint(service, tokens, nfts, alice);
  await tokens.send('moveBatch', [bob], [moved.tokenId]);
  await tokens.send('burn', burned.tokenId);
  await tokens.mine(5);
  await follow(service);
  await follow(service);
  const { json } = commandLine(settingsFor(service.databaseUrl));
  const owners = async (...more: string[]) => {
    const { value } = await json('mint', 'verify', ...more);
    return value.findings.filter(({ kind }: { kind: string }) => kind === 'other_owner');
  };
  expect(await owners()).toEqual([]);
  await tokens.send('moveSilently', bob, silent.tokenId);
  await follow(service);
  const [finding, ...others] = await owners();
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ nftId: silent.id, tokenId: silent.tokenId });
  expect(finding.detail).toContain(`names ${alice}, and ownerOf ${bob}`);
  expect(await owners('--since', '2000-01-01')).toEqual([]);
});
