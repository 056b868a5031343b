import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { getAddress, id, Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import artefact from '../../src/chain/contracts/artefacts/TallystickNft.json' with { type: 'json' };
import { callData, deployData } from '../../src/chain/contracts/contract-calls.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { addCompany, addNetwork } from '../rwa/samples.ts';
import { callNode, deploy, deployer, minedReceipt } from '../support/deploy.ts';
import { makeFolder } from '../support/made-folder.ts';
import { freePort } from '../support/postgres.ts';
import { compileContracts } from '../support/solidity.ts';
import { test } from './fixtures.ts';

const folder = await makeFolder();
const signer = Wallet.createRandom().address;
const empty = Wallet.createRandom().address;
/** One that mints, one that answers every call with the number one, and an NFT contract that nobody of ours may mint on. */
const contracts = { own: '', yes: '', foreign: '' };

test.beforeAll(async ({ chain, db }) => {
  await addNetwork(db, chain.chainId, chain.rpcUrl);
  await addNetwork(db, '77', `http://127.0.0.1:${await freePort()}`);
  await addCompany(db, 'acme');
  const compiled = await compileContracts();
  const deployOwn = async () => {
    const bytecode = deployData(artefact, ['Casks', 'CASK', getAddress(deployer)]);
    return getAddress(await deploy(chain.rpcUrl, { abi: artefact.abi, bytecode }));
  };
  contracts.own = await deployOwn();
  contracts.foreign = await deployOwn();
  contracts.yes = getAddress(await deploy(chain.rpcUrl, compiled['Yes']));
  const grant = callData(artefact, 'grantRole', [id('MINTER_ROLE'), signer]);
  const transaction = { from: deployer, to: contracts.own, data: grant };
  await minedReceipt(chain.rpcUrl, await callNode(chain.rpcUrl, 'eth_sendTransaction', [transaction]));
  await db('networks').update({ minter_contract: contracts.own });
  await db('mint_lanes').insert({ chain_id: chain.chainId, signer });
});
test.beforeEach(({ db }) => db.raw('TRUNCATE rwas, contract_verdicts CASCADE'));

const creating = (contract: string, ...more: string[]) => [
  ...['rwa', 'create', '--company', 'acme', '--name', 'Cask', '--type', 'whisky', '--chain', '31337'],
  ...['--contract-address', contract, ...more],
];
const count = async (db: Database) => Number((await db('rwas').count())[0]?.['count']);

describe('rwa create, where NFTs are minted', () => {
  test('takes a contract on which a signer may mint', async ({ db, json }) => {
    expect((await json(...creating(contracts.own, '--is-claimable'))).status).toBe(0);
    expect(await db('contract_verdicts')).toMatchObject([{ contract: contracts.own, verdict: 'fit' }]);
  });

  test.for([
    ['no code', () => empty, 'There is no contract at'],
    ['a fallback that answers anything', () => contracts.yes, 'It says yes to every question'],
    [
      'no right to mint for our signers',
      () => contracts.foreign,
      `None of the signers may mint on it (${signer})`,
    ],
  ] as const)('refuses a contract with %s', async ([_, address, message], { db, json }) => {
    const { status, error } = await json(...creating(address(), '--is-claimable'));
    expect(status).toBe(2);
    expect(error?.message).toContain(`--contract-address: ${message}`);
    expect(await count(db)).toBe(0);
  });

  test('takes any contract for an RWA that cannot be claimed, but not an address without one', async ({
    json,
  }) => {
    expect((await json(...creating(contracts.foreign))).status).toBe(0);
    expect((await json(...creating(empty))).error?.message).toContain('There is no contract at');
  });

  test('refuses where no node answers, says what to do, and takes it unasked with --offline', async ({
    db,
    json,
  }) => {
    const far = [...creating(contracts.own, '--is-claimable'), '--chain', '77'];
    const { status, error } = await json(...far);
    expect(status).toBe(1);
    expect(error?.message).toMatch(
      /^Whether network 77 has the contract cannot be found out: .*--offline\.$/s,
    );
    expect(await count(db)).toBe(0);
    const offline = await json(...far, '--offline');
    expect(offline.status).toBe(0);
    expect(offline.notes).toEqual([
      'The contract was not asked for on the network: tallystick doctor does that later.',
    ]);
    expect(await db('contract_verdicts')).toEqual([]);
  });

  test('refuses the zero address also with --offline', async ({ json }) => {
    const { error } = await json(...creating(`0x${'0'.repeat(40)}`, '--offline'));
    expect(error?.message).toBe('--contract-address must not be the zero address.');
  });
});

describe('rwa import, where NFTs are minted', () => {
  const importing = async (addresses: readonly string[], ...more: string[]) => {
    const lines = addresses.map((address) => `Cask,whisky,31337,${address},true`);
    const where = path.join(folder, 'casks.csv');
    await writeFile(where, ['name,type,chainId,contractAddress,isClaimable', ...lines].join('\n'));
    return ['rwa', 'import', where, '--company', 'acme', ...more];
  };

  test('names the line of each contract on which nothing can be minted, and imports none', async ({
    db,
    json,
  }) => {
    const addresses = [contracts.own, empty, contracts.own, contracts.yes, empty];
    const { status, value } = await json(...(await importing(addresses)));
    expect(status).toBe(1);
    expect(value).toMatchObject({
      imported: 0,
      errors: [
        { line: 3, field: 'contractAddress', message: `There is no contract at ${empty}.` },
        { line: 5, field: 'contractAddress', message: expect.stringContaining('yes to every question') },
        { line: 6, field: 'contractAddress', message: `There is no contract at ${empty}.` },
      ],
    });
    expect(await count(db)).toBe(0);
  });

  test('takes them unasked with --offline, and doctor names them then', async ({ db, json }) => {
    const { status } = await json(...(await importing([contracts.own, empty, empty], '--offline')));
    expect([status, await count(db)]).toEqual([0, 3]);
    const { value } = await json('doctor');
    const found = value.filter(({ check }: { check: string }) => check === 'contracts 31337');
    const [first] = await db('rwas').where({ contract_address: empty }).orderBy('created_at').pluck('id');
    expect(found).toEqual([
      { check: 'contracts 31337', state: 'ok', detail: 'in order: 1' },
      {
        check: 'contracts 31337',
        state: 'FAULT',
        detail: `${empty}, of 2 RWAs, the first ${first}: There is no contract at ${empty}.`,
      },
    ]);
    // Doctor only reads: a worker keeps the verdict.
    expect(await db('contract_verdicts').where({ contract: empty })).toEqual([]);
  });
});
