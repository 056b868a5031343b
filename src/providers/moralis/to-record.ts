import { formatUnits } from '../../chain/decimal.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { HistoryRecord } from '../shared/provider.ts';
import type { UpstreamTransaction } from './parse-history.ts';

type NativeTransfer = HistoryRecord['native_transfers'][number];
type Erc20Transfer = HistoryRecord['erc20_transfers'][number];
type NftTransfer = HistoryRecord['nft_transfers'][number];
type Currency = Network['currency'];
type Direction = NativeTransfer['direction'];

/** The wallet whose history it is, and the currency of the network. */
type Viewpoint = { readonly wallet: string; readonly currency: Currency };

/** Converts a transaction of the upstream to the contract's record, and fills in what the upstream may leave out. */
export function toHistoryRecord(
  transaction: UpstreamTransaction,
  { wallet, currency }: Viewpoint,
): HistoryRecord {
  const {
    native_transfers: native,
    erc20_transfers: erc20,
    nft_transfers: nft,
    receipt_gas_used: gasUsed,
    possible_spam: isSpam,
    ...rest
  } = transaction;
  const directionOf = (transfer: Seen) => readDirection(transfer, wallet, transaction.from_address);
  const record: HistoryRecord = {
    ...rest,
    ...(gasUsed == null ? {} : { receipt_gas_used: gasUsed }),
    ...(isSpam == null ? {} : { possible_spam: isSpam }),
    native_transfers: native.map((transfer) => toNative(transfer, currency, directionOf(transfer))),
    erc20_transfers: erc20.map(
      (transfer): Erc20Transfer => ({
        ...transfer,
        block_timestamp: transfer.block_timestamp ?? transaction.block_timestamp,
        direction: directionOf(transfer),
        verification: verificationOf(transfer, transaction),
      }),
    ),
    nft_transfers: nft.map((transfer) => ({
      ...toNft(transfer, transaction.value, directionOf(transfer)),
      verification: verificationOf(transfer, transaction),
    })),
  };
  return record.summary === '' ? { ...record, summary: summaryOf(record, wallet) } : record;
}

/** The record in a few words, where the upstream has none. */
function summaryOf(record: HistoryRecord, wallet: string): string {
  const { native_transfers: native, erc20_transfers: erc20, nft_transfers: nft } = record;
  const parts = [
    ...native.map((each) => ({ ...each, what: `${each.value_formatted} ${each.token_symbol}` })),
    ...erc20.map((each) => ({
      ...each,
      what: `${each.value_formatted ?? 'an amount of'} ${each.token_symbol ?? each.address}`,
    })),
    ...nft.map((each) => ({ ...each, what: `${each.token_symbol ?? each.token_address} #${each.token_id}` })),
  ];
  const texts = (of: Direction) => parts.filter(({ direction }) => direction === of).map(({ what }) => what);
  const [sent, received] = [texts('send'), texts('receive')];
  if (sent.length > 0 && received.length > 0) return `Sent ${some(sent)} and received ${some(received)}`;
  if (sent.length > 0) return `Sent ${some(sent)}`;
  if (received.length > 0) return `Received ${some(received)}`;
  return record.from_address === wallet ? 'Signed a transaction' : 'Took part in a transaction';
}

const some = ([first = '', ...rest]: readonly string[]) =>
  rest.length === 0 ? first : `${first} and ${rest.length} more`;

/** The upstream does not verify transfers. Its answer shows the signer all the same. */
function verificationOf({ from_address: from }: Seen, { from_address: signer }: UpstreamTransaction) {
  return from === signer ? 'signed' : 'unknown';
}

type Seen = {
  readonly from_address: string;
  readonly to_address: string | null;
  readonly direction?: string | null | undefined;
};

// A transfer between two other accounts belongs to the sender of the transaction, unless the upstream says otherwise.
function readDirection(
  { from_address: from, to_address: to, direction }: Seen,
  wallet: string,
  sender: string,
) {
  if (from === wallet) return 'send';
  if (to === wallet) return 'receive';
  if (direction === 'send' || direction === 'receive') return direction;
  return sender === wallet ? 'send' : 'receive';
}

type UpstreamNative = UpstreamTransaction['native_transfers'][number];

function toNative(
  { value_formatted: formatted, token_symbol: symbol, ...rest }: UpstreamNative,
  currency: Currency,
  direction: Direction,
): NativeTransfer {
  return {
    ...rest,
    value_formatted: formatted ?? formatUnits(BigInt(rest.value), currency.decimals),
    token_symbol: symbol ?? currency.symbol,
    direction,
  };
}

type UpstreamNft = UpstreamTransaction['nft_transfers'][number];

function toNft(
  transfer: UpstreamNft,
  valueSent: string,
  direction: Direction,
): Omit<NftTransfer, 'verification'> {
  const {
    value,
    operator,
    verified_collection: verified,
    normalized_metadata: normalized,
    ...rest
  } = transfer;
  return {
    ...rest,
    value: value ?? valueSent,
    direction,
    ...(operator === null ? {} : { operator }),
    ...(verified == null ? {} : { verified_collection: verified }),
    ...(normalized == null ? {} : { normalized_metadata: normalized }),
  };
}
