import { problem } from '../../../base/errors.ts';
import type { IdempotentRequest } from '../../../contract/operation.ts';
import type { Database, Tx } from '../../../contract/transaction.ts';
import { isOutage } from '../../../db/connection/outage.ts';
import { together } from '../../../db/connection/together.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { type Actor, recordAudit } from '../../../db/records/audit-store.ts';
import { type Claim, claimRecords, saveRecords } from '../../../db/records/idempotency-store.ts';
import type { JobSender } from '../../../jobs/queue.ts';
import { currentCause } from '../../../tracing/in-span.ts';
import { type ClaimSecretVault, sealNewSecret } from '../../assets/claim-secret.ts';
import { insertNfts, type NewNft } from '../../assets/nft-creation-store.ts';
import { findForeignNfts } from '../../assets/nft-store.ts';
import { refuseMoreWrong, type SecretCaller } from '../../assets/wrong-secret-store.ts';
import { queueNfts } from '../mint-state-store.ts';
import { findEligibility, lockCandidates } from './eligibility-store.ts';
import {
  createNftDecision,
  decideEligible,
  isSecretInvalid,
  type MintOutcome,
  refuse,
} from './mint-decision.ts';
import { mintQueue } from './mint-queue.ts';
import { findMintLimits, keepWithinQuota } from './mint-quota-store.ts';
import { findContractRecipients } from './recipient-store.ts';
import { createRequestGroups } from './request-groups.ts';

type Request = {
  readonly companyId: string;
  /** EIP-55; without one the NFT goes to the treasury of the company. */
  readonly recipient: string | undefined;
  readonly idempotency: IdempotentRequest | undefined;
  readonly by: Actor;
  /** The `traceparent` of the request, which its job and its transaction go on with; none without traces. */
  readonly causes?: readonly string[];
};

/** A request to mint an NFT that exists. */
export type MintRequest = Request & {
  readonly nftId: string;
  readonly secret: string;
  /** For whom a wrong secret is counted. */
  readonly caller: SecretCaller;
};

/** A request to create an NFT of an RWA and to mint it. */
type CreateAndMintRequest = Request & { readonly rwaId: string; readonly data: object | undefined };

/** A mint that was accepted, now or when the request was sent the first time. */
export type AcceptedMint = { readonly nftId: string; readonly isReplay: boolean };

/**
 * Accepts mints: the only way from `unclaimed` or `failed` to `queued`. The state of the NFT, its job and the
 * idempotency record commit together.
 *
 * Requests of a company that come at the same time are accepted as a set, in one transaction, so that a statement, a
 * commit and a flush to the disk serve all requests. Each has an outcome of its own: a rejected one changes nothing and
 * takes no other with it. A wrong secret is counted after that.
 */
export type MintAcceptor = {
  /** @throws problem with the reason for which the mint is rejected */
  mint(request: MintRequest): Promise<AcceptedMint>;
  /** @throws problem with the reason for which the mint is rejected */
  createAndMint(request: CreateAndMintRequest): Promise<AcceptedMint>;
};

type Deps = {
  readonly db: Database;
  readonly vault: ClaimSecretVault;
  readonly jobs: JobSender;
  /** Notifies the workers that mints were accepted, and in which traces. */
  readonly wake: (causes: readonly string[]) => void;
  /** The answer that an idempotency record keeps: JSON with the field `nftId`. */
  readonly toAnswer: (nftId: string) => { readonly nftId: string };
};

type Outcomes<R> = ReadonlyMap<R, MintOutcome>;

/** How an operation accepts requests of one company. */
type Way<R> = {
  readonly decide: (tx: Tx, requests: readonly R[]) => Promise<Outcomes<R>>;
  /** Writes what the decisions change, where that is not done with them. */
  readonly write?: (tx: Tx, outcomes: Outcomes<R>) => readonly Promise<unknown>[];
};

export function createMintAcceptor(deps: Deps): MintAcceptor {
  const { vault } = deps;
  const inGroups = <R extends Request>(way: Way<R>) =>
    createRequestGroups<R, MintOutcome>({
      lineOf,
      subjectOf,
      run: (requests) => acceptGroup(deps, requests, way),
    });
  const mint = inGroups<MintRequest>({
    decide: (tx, fresh) => decideMints(tx, vault, fresh),
    write: writeMints,
  });
  const createAndMint = inGroups<CreateAndMintRequest>({
    decide: (tx, fresh) => decideCreations(tx, vault, fresh),
  });
  return {
    async mint(request) {
      const outcome = await mint({ ...request, causes: currentCause() });
      const locked = isSecretInvalid(outcome) ? await refuseMoreWrong(deps.db, request) : undefined;
      if (locked !== undefined) throw locked;
      return acceptedOrThrow(outcome);
    },
    createAndMint: async (request) =>
      acceptedOrThrow(await createAndMint({ ...request, causes: currentCause() })),
  };
}

const lineOf = ({ companyId }: Request) => companyId;

// One transaction cannot lock an Idempotency-Key for two requests; without a key each is a subject of its own.
const subjectOf = (request: Request) =>
  request.idempotency === undefined ? request : `${request.idempotency.path} ${request.idempotency.key}`;

function acceptedOrThrow(outcome: MintOutcome): AcceptedMint {
  if (outcome.kind === 'refused') throw outcome.refusal;
  if (outcome.kind === 'failed') throw outcome.error;
  return { nftId: outcome.nftId, isReplay: outcome.kind === 'replayed' };
}

/** Accepts a set in one transaction. After an error nothing of it stays, and each request is tried alone. */
async function acceptGroup<R extends Request>(
  deps: Deps,
  requests: readonly R[],
  way: Way<R>,
): Promise<readonly MintOutcome[]> {
  let isCommitting = false;
  try {
    const outcomes = await inTransaction(deps.db, async (tx) => {
      const decided = await acceptAll(tx, deps, requests, way);
      isCommitting = true;
      return decided;
    });
    const queued = requests.filter((_, index) => outcomes[index]?.kind === 'queued');
    if (queued.length > 0) deps.wake(queued.flatMap(({ causes = [] }) => causes));
    return outcomes;
  } catch (error) {
    // A commit may have been done. In an outage, or when a row stays locked, each would only wait once more.
    if (isCommitting || isOutage(error) || requests.length === 1) {
      return requests.map(() => ({ kind: 'failed', error }));
    }
  }
  const alone = await Promise.all(requests.map((request) => acceptGroup(deps, [request], way)));
  return alone.flat();
}

async function acceptAll<R extends Request>(
  tx: Tx,
  { jobs, toAnswer }: Deps,
  requests: readonly R[],
  { decide, write }: Way<R>,
): Promise<readonly MintOutcome[]> {
  const repeats = await findRepeats(tx, requests);
  const fresh = requests.filter((request) => !repeats.has(request));
  const decisions = await decide(tx, fresh);
  const accepted = fresh.flatMap((request) => {
    const outcome = decisions.get(request);
    return outcome?.kind === 'queued' || outcome?.kind === 'known' ? [{ request, outcome }] : [];
  });
  const queued = accepted.flatMap(({ request, outcome }) =>
    outcome.kind === 'queued' ? [{ request, outcome }] : [],
  );
  const causes = queued.flatMap(
    ({ request, outcome }) => request.causes?.map((cause) => [outcome.nftId, cause] as const) ?? [],
  );
  const records = accepted.flatMap(({ request: { idempotency: request }, outcome: { nftId } }) =>
    request === undefined ? [] : [{ request, status: 200, headers: {}, answer: toAnswer(nftId) }],
  );
  await together([
    ...(write?.(tx, decisions) ?? []),
    jobs.enqueue(
      mintQueue,
      queued.map(({ outcome }) => outcome.nftId),
      tx,
      new Map(causes),
    ),
    recordAudit(tx, queued.map(mintRequested)),
    saveRecords(tx, records),
  ]);
  return requests.map((request) => outcomeOf(request, repeats.get(request) ?? decisions.get(request)));
}

function mintRequested<R extends Request>({
  request: { companyId, by },
  outcome: { nftId, recipient },
}: {
  readonly request: R;
  readonly outcome: MintOutcome & { readonly kind: 'queued' };
}) {
  return { action: 'nft.mint', companyId, subject: nftId, details: { recipient }, by };
}

function outcomeOf(request: Request, outcome: MintOutcome | undefined): MintOutcome {
  if (outcome === undefined) throw new Error(`A mint of company ${request.companyId} was not decided.`);
  return outcome;
}

/** The outcomes of requests whose `Idempotency-Key` was used before, or is used by another transaction now. */
async function findRepeats<R extends Request>(tx: Tx, requests: readonly R[]): Promise<Outcomes<R>> {
  const keyed = requests.flatMap((request) =>
    request.idempotency === undefined ? [] : [{ request, idempotency: request.idempotency }],
  );
  const claims = await claimRecords(
    tx,
    keyed.map(({ idempotency }) => idempotency),
  );
  return new Map(
    keyed.flatMap(({ request, idempotency }, index) => {
      const outcome = repeatOf(idempotency, claims[index]);
      return outcome === undefined ? [] : [[request, outcome]];
    }),
  );
}

/** Undefined when the request is to be worked on. */
function repeatOf({ requestHash }: IdempotentRequest, claim: Claim | undefined): MintOutcome | undefined {
  if (claim?.kind === 'free') return undefined;
  if (claim?.kind !== 'done') return refuse(problem('idempotency_in_progress'));
  if (!claim.record.requestHash.equals(requestHash)) return refuse(problem('idempotency_key_reused'));
  return { kind: 'replayed', nftId: nftIdOf(claim.record.answer) };
}

function nftIdOf(answer: unknown): string {
  const isAnswer = typeof answer === 'object' && answer !== null && 'nftId' in answer;
  if (isAnswer && typeof answer.nftId === 'string') return answer.nftId;
  throw new Error('The stored answer of a mint names no NFT.');
}

/** Locks the NFTs and checks the secrets. */
async function decideMints(
  tx: Tx,
  vault: ClaimSecretVault,
  requests: readonly MintRequest[],
): Promise<Outcomes<MintRequest>> {
  const [first] = requests;
  if (first === undefined) return new Map();
  const { companyId } = first;
  const ids = [...new Set(requests.map(({ nftId }) => nftId))];
  const [candidates, contracts, limits] = await together([
    lockCandidates(tx, companyId, ids),
    findContractRecipients(tx, { companyId, recipients: recipientsOf(requests) }),
    findMintLimits(tx, companyId),
  ]);
  const missing = ids.filter((id) => !candidates.has(id));
  const foreign = await findForeignNfts(tx, companyId, missing);

  const outcomes = new Map<MintRequest, MintOutcome>();
  for (const [id, sameNft] of Map.groupBy(requests, ({ nftId }) => nftId)) {
    const nft = candidates.get(id);
    const decide =
      nft === undefined
        ? () => refuse(problem(foreign.has(id) ? 'nft_foreign' : 'nft_not_found'))
        : createNftDecision(vault, nft, contracts);
    for (const request of sameNft) outcomes.set(request, decide(request));
  }

  await keepWithinQuota(tx, companyId, outcomes, limits);
  return outcomes;
}

const recipientsOf = (requests: readonly Request[]) => requests.flatMap(({ recipient }) => recipient ?? []);

/** Queues the NFTs that may be minted. */
function writeMints(tx: Tx, outcomes: Outcomes<MintRequest>): readonly Promise<unknown>[] {
  const queued = [...outcomes.values()].filter((outcome) => outcome.kind === 'queued');
  return [
    queueNfts(
      tx,
      queued.map(({ nftId: id, chainId, recipient }) => ({ id, chainId, recipient })),
    ),
  ];
}

/** Inserts the NFTs, already queued, of those RWAs that may be minted. */
async function decideCreations(
  tx: Tx,
  vault: ClaimSecretVault,
  requests: readonly CreateAndMintRequest[],
): Promise<Outcomes<CreateAndMintRequest>> {
  const [first] = requests;
  if (first === undefined) return new Map();
  const { companyId } = first;
  const rwaIds = requests.map(({ rwaId }) => rwaId);
  const [eligibility, contracts, limits] = await together([
    findEligibility(tx, companyId, rwaIds),
    findContractRecipients(tx, { companyId, recipients: recipientsOf(requests) }),
    findMintLimits(tx, companyId),
  ]);

  const outcomes = new Map<CreateAndMintRequest, MintOutcome>();
  const nfts = new Map<CreateAndMintRequest, NewNft>();
  for (const request of requests) {
    const { rwaId, data } = request;
    const rwa = eligibility.get(rwaId);
    if (rwa === undefined) {
      outcomes.set(request, refuse(problem('rwa_not_found')));
      continue;
    }
    const { id, sealed } = sealNewSecret(vault);
    const outcome = decideEligible(rwa, id, { named: request.recipient, contracts });
    outcomes.set(request, outcome);
    if (outcome.kind !== 'queued') continue;
    const { chainId, recipient } = outcome;
    nfts.set(request, { id, companyId, rwaId, sealed, data, mint: { chainId, recipient } });
  }

  await keepWithinQuota(tx, companyId, outcomes, limits);
  for (const [request, outcome] of outcomes) if (outcome.kind !== 'queued') nfts.delete(request);
  // The rows of the RWAs stay locked from here to the commit.
  const inserted = await insertNfts(tx, [...nfts.values()]);
  for (const [request, { id }] of nfts) {
    if (!inserted.has(id)) outcomes.set(request, refuse(problem('rwa_not_found')));
  }
  return outcomes;
}
