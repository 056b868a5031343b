import { getAddress } from 'ethers';
import { z } from 'zod';
import { readBlockNumber, readBlockTime, readQuantity } from '../rpc/transport/quantity.ts';

/*
 * What nodes write in their answers. All that does not fit is a ZodError, for which the node is left: what came through
 * and failed later would be taken for a fault of ours.
 */

/** What a reader of texts makes of a value; what it gives undefined for does not fit. */
const readBy = <T>(read: (value: unknown) => T | undefined, name: string) =>
  z.unknown().transform((value, context): T => {
    const found = read(value);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: `no ${name}` });
    return z.NEVER;
  });

/** Of 256 bits at most. */
export const quantityShape = readBy(readQuantity, 'quantity');
export const blockNumberShape = readBy(readBlockNumber, 'number of a block');
export const blockTimeShape = readBy(readBlockTime, 'time of a block');
export const bytesShape = z.string().regex(/^0x[0-9a-f]*$/i);
/** 32 bytes in lower case, such as a hash or a topic. */
export const wordShape = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .toLowerCase();
/** Read as EIP-55, whatever its case. */
export const addressShape = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((text) => getAddress(text.toLowerCase()));
