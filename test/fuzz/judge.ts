import type { ProblemCode } from '../../src/base/errors.ts';
import { type DocumentedOperation, documentOf, follow } from '../contract/documented.ts';
import type { Answer } from '../support/conformance.ts';

/** Rules that a document tells in words, so that a request may fit it and break one all the same. */
const rulesInWords = [
  /items or scans is required|scans must be absent where there are items|must have either ticket or attendeeId/,
  /sentAt must be absent where there are items|must have neither ticket nor attendeeId|must have scanId and at, /,
  /undoes (is required for an undo|must be absent, except for an undo)$/,
  /must be an RFC 3339 date-time with offset that the calendar has/,
  /minimumBalance must be at most/,
  /has a wrong EIP-55 checksum$/,
  /must be an RFC 3339 date or date-time that the calendar has|must be a date that the calendar has$/,
  /^Network with chainId .* not found$/s,
  /^(from|to)Date must not be sent together with|^to(Block|Date) must not be (below|before) from/,
  /^to must (not be before from|be at most 31 days)/,
  /^endDate must not be before|^startDate must not be after/,
  /^offset must be 0 or left out beside a cursor/,
  /must not be the zero address$/,
  /^(name|type|description|label|scans\/\d+\/gate) must (not be empty|have a visible character)$/,
  /^discountPrice must not be above|^price must not be below|^discountPercentage must agree with/,
  /^currency (must be written in capitals|is needed with a price$)/,
  /must be a URL such as|^url must be a (URI$|public https address)/,
  /^(imageUrl|claimBaseUrl) must be an http/,
  /^contractAddress (is not fit\.|is required|lets none of|cannot change)/,
  /^chainId (cannot change|is required)/,
  /^attributes must not have Type, Serial or Issuer/,
];

/** What is never the answer to a request that fits, has a key, and asks for what is the caller's own. */
const faultsOfSender: readonly ProblemCode[] = [
  ...(['api_key_missing', 'api_key_invalid', 'company_required', 'insufficient_scope'] as const),
  ...(['http_malformed', 'json_malformed', 'path_malformed', 'nft_foreign', 'input_invalid'] as const),
  ...(['address_required', 'network_id_required', 'attendee_id_required', 'secret_required'] as const),
  ...(['body_too_large', 'media_type_unsupported', 'rate_limited', 'mint_quota_exceeded'] as const),
  ...(['idempotency_in_progress'] as const),
];

// What a caller must never see: a stack, a query, a path of ours, a type of the runtime.
const leak =
  /\bat [\w.<>]+ \(|node_modules|\/src\/\w+|SELECT |INSERT INTO|TypeError|ReferenceError|\[object Object\]/;

/** What is wrong with any answer, whatever was asked. */
export function faultsOfAnswer(answer: Answer, faultsOf: (answer: Answer) => readonly string[]): string[] {
  const { status, headers, text } = answer;
  const faults: string[] = [];
  if (status >= 500) faults.push(`answered ${status}`);
  if (status >= 400 && leak.test(text)) faults.push('the problem tells of the inside of the service');
  if (headers['x-content-type-options'] !== 'nosniff')
    faults.push('header X-Content-Type-Options is missing');
  if (headers['x-powered-by'] !== undefined) faults.push('header X-Powered-By is there');
  // Refused before it has an operation: checked as a problem like any other.
  const isUnparsed = status === 431 || text.includes('"http_malformed"');
  return [...faults, ...(isUnparsed ? [] : faultsOf(answer))];
}

/** The codes that the document of an operation shows for a status. */
function codesOf({ area, responses }: DocumentedOperation, status: number): string[] {
  const contents = responses
    .filter((each) => each.status === status)
    .flatMap(({ node }) => Object.values(node['content'] ?? {}));
  return contents
    .flatMap((content) => Object.values(content['examples'] ?? {}))
    .map((example) => String(follow(documentOf(area), example).node['value']?.['code']));
}

/** Whether a refusal is one that the document of the operation names, or tells in words. */
export function isBusinessRefusal(operation: DocumentedOperation, { status, text }: Answer): boolean {
  const { code, errors = [] }: { code: ProblemCode; errors?: { message: string }[] } = JSON.parse(text);
  if (codesOf(operation, status).includes(code) && !faultsOfSender.includes(code)) return true;
  return errors.length > 0 && errors.every(({ message }) => rulesInWords.some((rule) => rule.test(message)));
}
