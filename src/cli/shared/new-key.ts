import { issueKey, type NewKey } from '../../keys/key-store.ts';
import { audited } from './audited.ts';
import type { Operator } from './session.ts';

/** Issues a key in one transaction with its entry in the audit log. */
export const issueAuditedKey = (
  { config, db }: Pick<Operator, 'config' | 'db'>,
  given: NewKey & { readonly label: string },
) =>
  audited(
    db,
    (tx) => issueKey(tx, config.KEY_ENVIRONMENT, given),
    ({ record: { id } }) => {
      const { companyId, label, scopes = null, eventId = null } = given;
      const details = { label, scopes, ...(eventId !== null && { eventId }) };
      return { action: 'key.create', companyId, subject: id, details };
    },
  );
