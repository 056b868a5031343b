import { inputInvalid } from '../../base/errors.ts';
import { isZeroAddress, parseAddress } from '../../chain/address.ts';

const place = { in: 'body', pointer: '/recipient' } as const;

/** The `recipient` of a body in EIP-55. @throws problem naming the field when it is not a valid recipient */
export function parseRecipient(text: string): string {
  const { checksum } = parseAddress(text, place);
  if (!isZeroAddress(checksum)) return checksum;
  const message = 'recipient must not be the zero address';
  throw inputInvalid([{ ...place, message }]);
}
