import { id, Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { chainAround, hexOf, type OddChain, type OddTransaction, wordOfHex } from '../support/odd-chain.ts';
import { startOddIndex } from '../support/odd-index.ts';
import {
  account,
  approvalForAllLog,
  approvalLog,
  codesAnswer,
  firstOf,
  tokensAnswer,
  transferLog,
} from '../support/odd-tokens.ts';
import type { TestService } from '../support/service.ts';

const [victim, other, stranger, fake, delegate] = ['a1', 'b2', 'c3', 'fa', 'd1'].map(account) as [
  ...[string, string, string, string, string],
];
const lookalike = `0xb2b2${'9'.repeat(32)}b2b2`;
const signer = new Wallet(`0x${'22'.repeat(32)}`);
const authority = signer.address.toLowerCase();
const usdt = tokensAnswer(() => ({
  name: 'Tether USD',
  symbol: 'USDT',
  decimals: 6,
  allowance: 2n ** 256n - 1n,
}));
const delegatedTo = (address: string) => `0xef0100${address.slice(2)}`;

/** Indexes and checks transactions of the stranger. */
async function checked(
  service: TestService,
  transactions: readonly OddTransaction[],
  answer: OddChain['answer'] = usdt,
) {
  const blocks = chainAround({ transactions }, { payer: victim, payee: other });
  const run = await startOddIndex(service, [{ blocks, answer }]);
  await run.follow();
  await run.fill();
  return {
    ...run,
    async of(address: string, query: Record<string, string> = {}) {
      const { body } = await run.get('wallet/history', { address, order: 'ASC', ...query }).expect(200);
      return body.history.result.filter(({ block_number }: { block_number: string }) => block_number === '2');
    },
  };
}

const call = (logs: OddTransaction['logs'], tx: object = {}): OddTransaction => ({
  tx: { from: stranger, to: fake, input: '0x12345678', ...tx },
  logs: logs ?? [],
});

const forged = {
  possible_spam: true,
  summary: 'Named in a transfer that did not happen',
  erc20_transfers: [{ verification: 'forged', possible_spam: true }],
};

describe('a forged transfer', () => {
  /** The victim authorizes a delegate, by a list in a transaction of the stranger. */
  async function authorized(nonce: bigint, to = delegate): Promise<object> {
    const { address, signature } = await signer.authorize({ address: to, chainId: 0n, nonce });
    const { r, s, yParity } = signature;
    const item = { address, chainId: '0x0', nonce: hexOf(nonce), yParity: hexOf(yParity), r, s };
    return { type: '0x4', authorizationList: [item] };
  }
  const stateOf = (nonce: number, code = '0x') =>
    firstOf(
      ({ method }) => (method === 'eth_getTransactionCount' ? { result: hexOf(nonce) } : undefined),
      codesAnswer({ [fake]: '0x6080', [authority]: code }),
      usdt,
    );
  const log = transferLog(fake, authority, lookalike, 5_000_000_000n);

  test.for([
    ['with an old nonce', 3n, 7, '0x', delegate],
    ['with an old nonce, of an account that has this delegate since', 3n, 7, delegatedTo(delegate), delegate],
    ['that the network has yet to apply', 9n, 7, '0x', delegate],
    ['with an old nonce, which ends a delegation', 3n, 7, '0x', `0x${'0'.repeat(40)}`],
  ] as const)(
    'is not signed by an authorization %s, and nothing is delegated',
    async ([, nonce, next, code, to], { service }) => {
      const run = await checked(service, [call([log], await authorized(nonce, to))], stateOf(next, code));
      const records = await run.of(authority);
      expect(records).toMatchObject([forged]);
      expect(records[0].summary).not.toContain('delegat');
      expect(await run.of(authority, { includeSpam: 'false' })).toEqual([]);
    },
  );

  test('becomes an honest transfer by no signature of an old authorization with the present delegate', async ({
    service,
  }) => {
    const honest = transferLog(fake, authority, other, 5);
    let parent: string | undefined;
    const moved: OddChain['answer'] = ({ method, params: [asked, block] }) => {
      const { data = '' } = method === 'eth_call' ? (asked as { data?: string }) : {}; // of a call
      if (!data.startsWith(id('balanceOf(address)').slice(0, 10))) return undefined;
      parent ??= JSON.stringify(block);
      const isBefore = JSON.stringify(block) === parent;
      return { result: wordOfHex(data.endsWith(authority.slice(2)) === isBefore ? 5 : 0) };
    };
    const run = await checked(
      service,
      [call([honest], await authorized(3n))],
      firstOf(moved, stateOf(7, delegatedTo(delegate))),
    );
    expect(await run.of(authority)).toMatchObject([{ erc20_transfers: [{ verification: 'state-checked' }] }]);
  });

  test('is none of an account that a stranger authorizes: the code shows the delegation', async ({
    service,
  }) => {
    const run = await checked(
      service,
      [call([log], await authorized(7n))],
      stateOf(7, delegatedTo(delegate)),
    );
    expect((await run.of(authority))[0]).toMatchObject({
      summary: 'Delegated the account to 0xd1...d1d1',
      // Whatever else a stranger writes next to it, the account should see this.
      possible_spam: false,
      erc20_transfers: [{ verification: 'forged' }],
    });
  });

  test('keeps the end of a delegation as a step of the account', async ({ service }) => {
    const run = await checked(service, [call([], await authorized(7n, `0x${'0'.repeat(40)}`))], stateOf(7));
    expect(await run.of(authority)).toMatchObject([{ summary: 'Ended the delegation of the account' }]);
  });

  const noise = { address: victim, topics: [wordOfHex(77)], data: '0x' };
  const fakeLog = transferLog(fake, victim, lookalike, 5_000_000_000n);
  test.for([
    ['logs', call([noise, fakeLog])],
    ['is called', call([fakeLog], { to: victim })],
    ['logs an approval', call([approvalLog(victim, stranger, stranger, 1), fakeLog])],
  ] as const)('is found of an account with a delegate that %s', async ([, transaction], { service }) => {
    const answer = firstOf(codesAnswer({ [victim]: delegatedTo(delegate), [fake]: '0x6080' }), usdt);
    const run = await checked(service, [transaction], answer);
    expect((await run.of(victim))[0]).toMatchObject({
      possible_spam: true,
      erc20_transfers: [{ verification: 'forged' }],
    });
  });

  test('is unknown of a contract that logs, as before', async ({ service }) => {
    const answer = firstOf(codesAnswer({ [victim]: '0x6080', [fake]: '0x6080' }), usdt);
    const run = await checked(service, [call([noise, fakeLog])], answer);
    expect((await run.of(victim))[0]).toMatchObject({
      possible_spam: false,
      erc20_transfers: [{ verification: 'unknown' }],
    });
  });
});

describe('a user operation', () => {
  const operation = (entryPoint: string) => ({
    address: entryPoint,
    topics: [
      id('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)'),
      ...[wordOfHex(9), wordOfHex(victim), wordOfHex(0)],
    ],
    data: `${wordOfHex(1)}${wordOfHex(1).slice(2).repeat(3)}`,
  });
  const logs = (entryPoint: string) => [transferLog(fake, victim, other, 5), operation(entryPoint)];
  const own = account('e9');

  test.for([
    ['0.6', '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789', 'signed'],
    ['0.7', '0x0000000071727de22e5e9d8baf0edac6f37da032', 'signed'],
    ['0.8', '0x4337084d9e255ff0702461cf8895ce9e3b5ff108', 'signed'],
    ['0.9', '0x433709009b8330fda32311df1c2afa402ed8d009', 'signed'],
    ['of the operator', own, 'signed'],
    ['of a stranger', account('ee'), 'unknown'],
  ] as const)('of entry point %s: %s is %s', async ([, entryPoint, verification], { service }) => {
    const transactions = [call(logs(entryPoint), { to: entryPoint })];
    const blocks = chainAround({ transactions }, { payer: victim, payee: other });
    const answer = firstOf(codesAnswer({ [victim]: '0x6080' }), usdt);
    const run = await startOddIndex(service, [{ blocks, answer }], { entryPoints: [own] });
    await run.follow();
    await run.fill();
    const { body } = await run.get('wallet/history', { address: victim, order: 'ASC' }).expect(200);
    expect(body.history.result[1].erc20_transfers).toMatchObject([{ verification }]);
  });
});

describe('a borrower', () => {
  const borrowTopics = (name: string, borrower: string) => [
    id(name),
    ...[stranger, borrower, stranger].map(wordOfHex),
  ];
  const aave = (borrower: string) => ({
    address: fake,
    topics: borrowTopics('Borrow(address,address,address,uint256,uint8,uint256,uint16)', borrower),
    data: `0x${wordOfHex(1).slice(2).repeat(4)}`,
  });
  const oldAave = (borrower: string) => ({
    ...aave(borrower),
    topics: borrowTopics('Borrow(address,address,address,uint256,uint256,uint256,uint16)', borrower),
  });
  const compound = (borrower: string) => ({
    address: fake,
    topics: [id('Borrow(address,uint256,uint256,uint256)')],
    data: `${wordOfHex(borrower)}${wordOfHex(1).slice(2).repeat(3)}`,
  });
  const lent = transferLog(fake, `0x${'0'.repeat(40)}`, victim, 7);
  const kinds = [
    ['Aave', aave],
    ['an old Aave', oldAave],
    ['Compound', compound],
  ] as const;
  const answer = firstOf(codesAnswer({ [fake]: '0x6080' }), usdt);

  test.for(kinds)(
    'is nobody who signed nothing, whatever a contract logs as %s',
    async ([, borrow], { service }) => {
      const run = await checked(service, [call([borrow(victim)]), call([lent, borrow(victim)])], answer);
      const records = await run.of(victim);
      expect(records).toMatchObject([{ category: 'mint' }]);
    },
  );

  test.for(kinds)('is whoever signed, as %s', async ([, borrow], { service }) => {
    const run = await checked(service, [call([lent, borrow(victim)], { from: victim })], answer);
    expect(await run.of(victim)).toMatchObject([{ category: 'borrow' }]);
  });

  test('is a contract that is called', async ({ service }) => {
    const run = await checked(service, [call([lent, aave(victim)], { to: victim })], answer);
    expect(await run.of(victim)).toMatchObject([{ category: 'borrow' }]);
  });
});

describe('a bundle of user operations', () => {
  const entryPoint = '0x0000000071727de22e5e9d8baf0edac6f37da032';
  const begins = { address: entryPoint, topics: [id('BeforeExecution()')], data: '0x' };
  const ended = (account: string) => ({
    address: entryPoint,
    topics: [
      id('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)'),
      ...[wordOfHex(9), wordOfHex(account), wordOfHex(0)],
    ],
    data: `${wordOfHex(1)}${wordOfHex(1).slice(2).repeat(3)}`,
  });
  const honest = transferLog(account('71'), victim, other, 5);
  const lie = transferLog(fake, victim, lookalike, 5_000_000_000n);
  const lies = [lie, approvalLog(fake, victim, stranger, 7)];

  test.for([
    ['in the operation of another account', [begins, honest, ended(victim), ...lies, ended(other)]],
    ['in an operation before', [begins, ...lies, ended(other), honest, ended(victim)]],
    ['while operations are checked', [...lies, begins, honest, ended(victim), ended(other)]],
    ['after the last operation', [begins, honest, ended(victim), ...lies]],
  ] as const)('signs nothing %s', async ([, logs], { service }) => {
    const answer = firstOf(codesAnswer({ [victim]: delegatedTo(delegate), [fake]: '0x6080' }), usdt);
    const run = await checked(service, [call(logs, { to: entryPoint })], answer);
    const [record] = await run.of(victim);
    const told = record.erc20_transfers.map(({ address, verification }: Record<string, string>) =>
      [address, verification].join(' '),
    );
    expect(told.sort()).toEqual([`${account('71')} signed`, `${fake} forged`]);
    const { body } = await run.get('wallet/approvals', { address: victim }).expect(200);
    expect(body.result).toMatchObject([{ token_address: fake, possible_spam: true }]);
  });
});

describe('an approval', () => {
  const all = 2n ** 256n - 1n;
  const codes = codesAnswer({ [fake]: '0x6080' });
  type Approvals = { result: { possible_spam: boolean }[] };
  const live = async (run: Awaited<ReturnType<typeof checked>>, address: string) =>
    ((await run.get('wallet/approvals', { address }).expect(200)).body as Approvals).result; // the contract

  test.for([
    ['an amount', approvalLog(fake, victim, stranger, all)],
    ['all tokens', approvalForAllLog(fake, victim, stranger)],
    ['an end', approvalLog(fake, victim, stranger, 0)],
  ] as const)('of %s whose owner signed nothing is spam', async ([, log], { service }) => {
    const run = await checked(service, [call([log])], firstOf(codes, usdt));
    expect(await run.of(victim)).toMatchObject([
      {
        possible_spam: true,
        category: 'contract interaction',
        summary: 'Named in an approval that the account did not sign',
      },
    ]);
    expect(await run.of(victim, { includeSpam: 'false' })).toEqual([]);
    expect((await live(run, victim)).every((each) => each.possible_spam)).toBe(true);
  });

  const permit = call([approvalLog(fake, victim, stranger, 7)]);
  const before = {
    approval: call([approvalLog(fake, victim, other, 1)], { from: victim }),
    transfer: call([transferLog(fake, victim, other, 1)], { from: victim }),
  };
  const answering = (allowance: number) =>
    firstOf(
      codes,
      tokensAnswer(() => ({ name: 'Coin', symbol: 'COIN', decimals: 0, allowance })),
    );
  test.for([
    ['an approval before', before.approval, 7, false],
    ['a transfer before, and uses a part', before.transfer, 3, false],
    ['an approval before, and the contract denies it', before.approval, 0, true],
  ] as const)('of an owner who signed %s', async ([, earlier, allowance, isSpam], { service }) => {
    const run = await checked(service, [earlier, permit], answering(allowance));
    const [, record] = await run.of(victim);
    expect(record.possible_spam).toBe(isSpam);
    if (!isSpam) expect(record.summary).toBe('Approved 7 COIN');
  });

  test('of a contract is no spam, as it signs nothing', async ({ service }) => {
    const run = await checked(service, [permit], firstOf(codesAnswer({ [victim]: '0x6080' }), usdt));
    expect(await run.of(victim)).toMatchObject([{ possible_spam: false }]);
    expect(await live(run, victim)).toMatchObject([{ possible_spam: false }]);
  });

  test('that its owner signed is none', async ({ service }) => {
    const run = await checked(service, [before.approval], answering(1));
    expect(await run.of(victim)).toMatchObject([{ possible_spam: false, summary: 'Approved 1 COIN' }]);
    expect(await live(run, victim)).toMatchObject([{ possible_spam: false }]);
  });
});

describe('a token with the words of the native asset', () => {
  const symbolOf = (symbol: string, name: string) => tokensAnswer(() => ({ name, symbol, decimals: 18 }));
  test.for([
    ['the symbol', 'ETH', 'Some coin'],
    ['the symbol in other letters', 'ЕТН', 'Some coin'],
    ['the symbol in small letters', 'eth', 'Some coin'],
    ['the symbol with a letter of no width', 'ET\u200bH', 'Some coin'],
    ['the symbol with a space', 'ETH ', 'Some coin'],
    ['the name', 'COIN', 'Ether'],
    ['the name in other letters', 'COIN', 'Еther'],
  ] as const)('imitates it by %s', async ([, symbol, name], { service }) => {
    const run = await checked(
      service,
      [call([transferLog(fake, stranger, victim, 100n * 10n ** 18n)])],
      symbolOf(symbol, name),
    );
    expect(await run.of(victim)).toMatchObject([
      {
        summary: 'Received 100 0xfa...fafa from 0xc3...c3c3',
        possible_spam: true,
        erc20_transfers: [{ imitates: `0x${'0'.repeat(40)}`, possible_spam: true }],
      },
    ]);
  });

  test.for([
    ['the symbol', 'ETH', 'Some coin'],
    ['the name', 'COIN', 'Ether'],
  ] as const)(
    'never has the words of a payment that nobody signed: %s',
    async ([, symbol, name], { service }) => {
      const run = await checked(
        service,
        [call([transferLog(fake, victim, lookalike, 10n ** 18n)])],
        firstOf(codesAnswer({ [fake]: '0x6080' }), symbolOf(symbol, name)),
      );
      expect(await run.of(victim)).toMatchObject([forged]);
      expect(await run.of(victim, { includeSpam: 'false' })).toEqual([]);
    },
  );
});
