import { createDecipheriv, createSecretKey } from 'node:crypto';
import type { Caller } from './keys.ts';
import { type EventRow, eventOf, type NftRow, nftOf, type RwaRow, rwaDetailOf, rwaOf } from './rows.ts';
import type { Ask } from './statements.ts';

type Page = { readonly limit: number; readonly offset: number };
type Found<T> = { readonly items: T[]; readonly total: string };

const rwaColumns = `r.id, r.company_id, r.name, r.description, r.type, r.image_url, r.chain_id, r.contract_address,
  r.is_buyable, r.is_claimable, r.price, r.currency, r.archived_at, r.created_at, r.updated_at`;
const nftColumns = `n.id, n.rwa_id, n.serial, n.token_id, n.secret_cipher, n.mint_state, n.mint_error, n.recipient,
  n.minted_at, n.minted_tx, n.minted_block, n.data, n.created_at, n.updated_at`;
const aliased = rwaColumns.replace(/r\.(\w+)/g, 'r.$1 AS rwa_$1');
const ofRwa = (row: Readonly<Record<string, unknown>>): RwaRow =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => (name.startsWith('rwa_') ? [[name.slice(4), value]] : [])),
  ) as RwaRow;

const nonceBytes = 12;
const tagBytes = 16;

export type Reads = ReturnType<typeof createReads>;

/** @param key the 32 bytes that claim secrets are sealed with */
export function createReads(ask: Ask, key: Buffer) {
  const secretKey = createSecretKey(key);
  const openSecret = ({ id, secret_cipher: sealed }: NftRow): string => {
    const decipher = createDecipheriv('aes-256-gcm', secretKey, sealed.subarray(0, nonceBytes));
    decipher.setAAD(Buffer.from(`tallystick claim secret ${id}`));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    return (
      decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
    );
  };
  // Who saw a secret is recorded before it is shown.
  const record = ({ keyId, companyId }: Caller, nfts: readonly NftRow[], from: Visit) =>
    ask(
      'audit',
      `INSERT INTO audit_log (actor_kind, actor, origin, company_id, action, request_id, details)
       VALUES ('key', $1, $2, $3, 'nft.secrets_read', $4, $5)`,
      [
        ...[keyId, from.address, companyId, from.requestId],
        JSON.stringify({ count: nfts.length, first: nfts[0]?.id, last: nfts.at(-1)?.id }),
      ],
    );
  return {
    async event({ companyId }: Caller, id: string) {
      const [row] = await ask<EventRow>('event', 'SELECT * FROM events WHERE company_id = $1 AND id = $2', [
        companyId,
        id,
      ]);
      return row && eventOf(row);
    },
    async events({ companyId }: Caller, { limit, offset }: Page) {
      const [rows, total] = await Promise.all([
        ask<EventRow>(
          'events',
          'SELECT * FROM events WHERE company_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3',
          [companyId, limit, offset],
        ),
        count(ask, 'events', companyId),
      ]);
      return { items: rows.map(eventOf), total };
    },
    async rwa({ companyId }: Caller, id: string) {
      const [row] = await ask<RwaRow>(
        'rwa',
        `SELECT ${rwaColumns}, r.data, r.total_nfts, r.claimed_nfts FROM rwas r WHERE company_id = $1 AND id = $2`,
        [companyId, id],
      );
      return row && rwaDetailOf(row);
    },
    async rwas({ companyId }: Caller, { limit, offset }: Page) {
      const [rows, total] = await Promise.all([
        ask<RwaRow>(
          'rwas',
          `SELECT ${rwaColumns} FROM rwas r WHERE company_id = $1 AND archived_at IS NULL ORDER BY created_at, id LIMIT $2 OFFSET $3`,
          [companyId, limit, offset],
        ),
        count(ask, 'rwas', companyId),
      ]);
      return { items: rows.map(rwaOf), total };
    },
    async nft(caller: Caller, id: string, from: Visit) {
      const [row] = await ask<NftRow>(
        'nft',
        `SELECT ${nftColumns}, ${aliased}, r.data AS rwa_data, r.total_nfts AS rwa_total_nfts,
           r.claimed_nfts AS rwa_claimed_nfts
         FROM nfts n JOIN rwas r ON r.id = n.rwa_id WHERE n.company_id = $1 AND n.id = $2`,
        [caller.companyId, id],
      );
      if (row === undefined) return undefined;
      await record(caller, [row], from);
      return { ...nftOf(row, openSecret(row)), rwa: rwaDetailOf(ofRwa(row)) };
    },
    async nfts(caller: Caller, { limit, offset }: Page, from: Visit): Promise<Found<object>> {
      const [rows, total] = await Promise.all([
        ask<NftRow>(
          'nfts',
          `SELECT ${nftColumns}, ${aliased} FROM nfts n JOIN rwas r ON r.id = n.rwa_id
           WHERE n.company_id = $1 ORDER BY n.rwa_number, n.serial LIMIT $2 OFFSET $3`,
          [caller.companyId, limit, offset],
        ),
        count(ask, 'nfts', caller.companyId),
      ]);
      await record(caller, rows, from);
      return {
        items: rows.map((row) => ({ ...nftOf(row, openSecret(row)), rwa: rwaOf(ofRwa(row)) })),
        total,
      };
    },
  };
}

/** Where a request came from. */
export type Visit = { readonly address: string; readonly requestId: string };

async function count(ask: Ask, table: 'events' | 'rwas' | 'nfts', companyId: string): Promise<string> {
  const [row] = await ask<{ count: string }>(
    `count ${table}`,
    `SELECT count(*) FROM ${table} WHERE company_id = $1`,
    [companyId],
  );
  return row?.count ?? '0';
}
