import { isDeepStrictEqual } from 'node:util';
import { problem } from '../../base/errors.ts';
import { type NetworkRegistry, networkNotFound } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import { NodesUnavailableError } from '../../chain/rpc/transport/node-fault.ts';
import { basePaths } from '../../contract/documents.ts';
import { assertMatch, entityTag } from '../../contract/entity-tag.ts';
import type { operations } from '../../contract/generated/rwa.ts';
import type { Caller, CompanyContext, Handlers, Origin } from '../../contract/operation.ts';
import { hasScope } from '../../contract/scopes.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import { recordByKey } from '../../db/records/audit-store.ts';
import {
  insertRwa,
  isContractOfOthers,
  mergeRwa,
  needsExamination,
  setArchived,
  updateRwa,
} from '../assets/rwa-change-store.ts';
import { parseRwaInput, type RwaInput } from '../assets/rwa-input.ts';
import type { RwaDetail } from '../assets/rwa-row.ts';
import { findRwa } from '../assets/rwa-store.ts';
import { examineContract } from '../minting/examine-contract.ts';
import { listLanes } from '../minting/lane-status-store.ts';
import { bodyProblem } from './refusal.ts';
import { toApiRwaDetail } from './to-api.ts';

type ChangeOperations = Pick<operations, 'createRwa' | 'updateRwa'>;

type Deps = {
  readonly db: Database;
  readonly networks: Pick<NetworkRegistry, 'find'>;
  readonly clients: Pick<RpcClients, 'for'>;
};

/** Creating and changing the RWAs of a company. */
export function createChangeHandlers(deps: Deps): Handlers<ChangeOperations, CompanyContext> {
  const { db } = deps;
  return {
    async createRwa({ body }, { companyId, caller, once, origin }) {
      assertMayLead(caller, body.claimBaseUrl, null);
      const network = await deps.networks.find(String(body.chainId));
      if (network === undefined) throw networkNotFound(String(body.chainId));
      const contractAddress = body.contractAddress ?? network.minterContract;
      const input = inputOf(parseRwaInput({ ...body, contractAddress: contractAddress ?? undefined }));
      // The node is asked outside of the transaction. A repeated request is answered from its record, whatever the node says.
      const examined = await outcomeOf(examine(deps, input));
      return once(async (tx) => {
        examined.assert();
        await assertOwnContract(deps, tx, companyId, input);
        const id = await insertRwa(tx, companyId, input);
        await recordByKey(tx, { action: 'rwa.create', companyId, subject: id }, origin);
        const rwa = existing(await findRwa(tx, companyId, id));
        const headers = { ETag: rwaTag(rwa), Location: `${basePaths.rwa}/rwa/${id}` };
        return { status: 201, body: toApiRwaDetail(rwa), headers } as const;
      });
    },

    async updateRwa({ path, header, body = {} }, { companyId, caller, once, origin }) {
      const { archived, ...change } = body;
      const seen = existing(await findRwa(db, companyId, path.id));
      const target = mergeRwa(seen, change);
      const isAsked = target.ok && needsExamination(seen, target.input);
      const examined = await outcomeOf(isAsked ? examine(deps, target.input) : Promise.resolve());
      return once(async (tx) => {
        const result = await updateRwa(tx, { companyId, id: path.id }, change, (rwa) => {
          assertMayLead(caller, change.claimBaseUrl, rwa.ownClaimBaseUrl);
          assertMatch(header['If-Match'], rwaTag(rwa));
          // The contract that was examined is not the contract that would be stored.
          if (!isSameContract(rwa, seen)) throw problem('precondition_failed');
          examined.assert();
        });
        if (result.kind === 'missing') throw problem('rwa_not_found');
        if (result.kind === 'faulty') throw bodyProblem(result.errors);
        if (isAsked) await assertOwnContract(deps, tx, companyId, target.input);
        await recordChange(tx, { companyId, rwaId: seen.id, archived, changed: result.changed }, origin);
        const rwa = existing(await findRwa(tx, companyId, path.id));
        return { status: 200, body: toApiRwaDetail(rwa), headers: { ETag: rwaTag(rwa) } } as const;
      });
    },
  };
}

/**
 * Checks that a key may change where claim URLs lead: holders open them with their secrets.
 * @throws ProblemError `insufficient_scope`
 */
function assertMayLead(caller: Caller, wanted: string | null | undefined, present: string | null): void {
  if (wanted === undefined || wanted === present || hasScope(caller, 'secrets:read')) return;
  throw problem('insufficient_scope', { scope: 'secrets:read' });
}

const inputOf = (parsed: ReturnType<typeof parseRwaInput>): RwaInput => {
  if (parsed.ok) return parsed.input;
  throw bodyProblem(parsed.errors);
};

/** Runs work whose failure counts only later. */
async function outcomeOf(work: Promise<void>): Promise<{ assert(): void }> {
  const failed = await work.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  return {
    assert() {
      if (failed !== undefined) throw failed.error;
    },
  };
}

/**
 * Asks the network whether NFTs of the RWA can be what it says.
 * @throws ProblemError `network_not_found`, `input_invalid` about the contract, or `contract_unverified`
 */
async function examine({ db, networks, clients }: Deps, input: RwaInput): Promise<void> {
  const { chainId, contractAddress: contract, isClaimable } = input;
  const network = await networks.find(chainId);
  if (network === undefined) throw networkNotFound(chainId);
  const signers = (await listLanes(db, { chainId }, 0)).map(({ signer }) => signer);
  const { verdict, detail } = await examineContract(
    clients,
    { network, contract, isClaimable },
    signers,
  ).catch((cause: unknown) => {
    if (!(cause instanceof NodesUnavailableError)) throw cause;
    const { retryAfterMs } = cause;
    throw problem('contract_unverified', { chainId }, { retryAfterMs, cause });
  });
  if (verdict === 'fit') return;
  const message =
    verdict === 'unfit'
      ? `is not fit. ${detail}`
      : `lets none of the signers mint: ${signers.join(', ')}. Let one of them mint, then send the request again`;
  throw bodyProblem([{ field: 'contractAddress', message }]);
}

/** @throws ProblemError `contract_taken` when it is the contract of another company, and not the network's own */
async function assertOwnContract(
  { networks }: Deps,
  tx: Tx,
  companyId: string,
  { chainId, contractAddress }: RwaInput,
): Promise<void> {
  const network = await networks.find(chainId);
  if (network?.minterContract?.toLowerCase() === contractAddress.toLowerCase()) return;
  if (await isContractOfOthers(tx, companyId, { chainId, contractAddress }))
    throw problem('contract_taken', { address: contractAddress });
}

type Change = {
  readonly companyId: string;
  readonly rwaId: string;
  readonly archived: boolean | undefined;
  readonly changed: readonly string[];
};

/** Archives the RWA or puts it back, and stores what changed in the audit log. */
async function recordChange(
  tx: Tx,
  { companyId, rwaId, archived, changed }: Change,
  origin: Origin,
): Promise<void> {
  const entry = { companyId, subject: rwaId };
  if (changed.length > 0)
    await recordByKey(tx, { action: 'rwa.update', ...entry, details: { fields: changed } }, origin);
  if (archived === undefined || !(await setArchived(tx, { companyId, id: rwaId }, archived))) return;
  await recordByKey(tx, { action: archived ? 'rwa.archive' : 'rwa.unarchive', ...entry }, origin);
}

const isSameContract = (one: RwaDetail, other: RwaDetail) =>
  isDeepStrictEqual(
    [one.chainId, one.contractAddress, one.isClaimable],
    [other.chainId, other.contractAddress, other.isClaimable],
  );

/** The tag of what a PATCH can change. NFTs that are created or minted leave it as it is. */
export const rwaTag = (rwa: RwaDetail): string => {
  const { id, name, description, type, imageUrl, chainId, contractAddress, isBuyable, isClaimable } = rwa;
  const { price, currency, data, claimPage, ownClaimBaseUrl, archivedAt } = rwa;
  return entityTag(
    ...[id, name, description, type, imageUrl, chainId, contractAddress, isBuyable, isClaimable],
    ...[price, currency, data, claimPage, ownClaimBaseUrl, archivedAt],
  );
};

function existing(rwa: RwaDetail | undefined): RwaDetail {
  if (rwa === undefined) throw problem('rwa_not_found');
  return rwa;
}
