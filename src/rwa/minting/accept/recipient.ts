import { type ProblemError, problem } from '../../../base/errors.ts';
import { isReservedAddress } from '../../../chain/address.ts';
import type { Database } from '../../../contract/transaction.ts';
import { findContractRecipients } from './recipient-store.ts';

type Contracts = {
  /** The contract that the NFT is minted on; undefined where none is in question. */
  readonly contractAddress?: string;
  /** The contracts of RWAs and networks. */
  readonly contracts: ReadonlySet<string>;
};

/**
 * Why nothing is minted to an address that no person owns; undefined when something may be. All addresses are EIP-55.
 * @param whose what the message says of the address, such as `, the treasury of the company`
 */
export function refuseRecipient(recipient: string, of: Contracts, whose = ''): ProblemError | undefined {
  const what = kindOf(recipient, of);
  if (what === undefined) return undefined;
  const values = { recipient: `${recipient}${whose}`, what };
  const { message } = problem('recipient_unusable', values);
  return problem('recipient_unusable', values, {
    errors: [{ in: 'body', pointer: '/recipient', message }],
  });
}

function kindOf(recipient: string, { contractAddress, contracts }: Contracts): string | undefined {
  if (isReservedAddress(recipient)) return 'reserved for contracts of the network';
  if (recipient === contractAddress) return 'the contract of this NFT';
  return contracts.has(recipient) ? 'an NFT contract of the service' : undefined;
}

/** Says, for operators, why nothing is minted to an address; undefined when something may be. */
export async function findRecipientFault(db: Database, recipient: string): Promise<string | undefined> {
  const contracts = await findContractRecipients(db, { recipients: [recipient] });
  return refuseRecipient(recipient, { contracts })?.message;
}
