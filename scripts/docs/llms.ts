import { placeholders } from '../../src/http/mounts/deployment.ts';
import type { AreaContract, Operation } from './contract.ts';
import type { Guide } from './guides.ts';

const docs = `${placeholders.baseUrl}/docs`;
const link = (title: string, file: string, about: string) => `- [${title}](${docs}/${file}): ${about}`;
const section = (title: string, lines: readonly string[]) => `## ${title}\n\n${lines.join('\n')}`;

function operationLine(operation: Operation): string {
  const { method, fullPath, href, operationId, summary, deprecated, 'x-required-scope': scope } = operation;
  const about = `\`${operationId}\`. ${summary}${deprecated ? ' (deprecated)' : ''}.`;
  const scopes = [scope ?? ''].flat();
  const need = keyWords[scopes.join()] ?? `Scope ${scopes.map((name) => `\`${name}\``).join(' or ')}.`;
  return link(`${method} ${fullPath}`, href, `${about} ${need}`);
}

/** What an operation needs of a key that needs no scope, by its `x-required-scope`. */
const keyWords: Readonly<Record<string, string>> = { '': 'No key.', none: 'Any key.' };

/** Gives llms.txt, the form of the portal that language models read: each page in a line, with its whole address. */
export function llmsText(
  contract: readonly AreaContract[],
  guides: readonly Guide[],
  manual: readonly Guide[],
): string {
  const isLog = ({ name }: Guide) => name === 'changelog';
  const guideLine = ({ title, name, lead }: Guide) => link(title, `${name}.html`, lead);
  const parts = [
    `# API of ${placeholders.operator}`,
    `> One HTTP contract for blockchain data, events, and real-world assets whose NFTs are minted on the chain. Requests go to ${placeholders.baseUrl} with an API key in the header \`x-api-key\`.`,
    [
      '- The OpenAPI documents are the whole truth: every operation, field, limit, status and error is in them.',
      '- Errors are `application/problem+json`; branch on `code`, and read `detail` for what to fix.',
      '- Amounts, token ids and block numbers are decimal texts. Times are RFC 3339 in UTC.',
      '- Unknown fields and parameters are rejected by name; nothing is ignored, clamped or converted.',
      '- A key can be limited to scopes. Each operation names the one that it needs; without it the answer is 403 `insufficient_scope`.',
      '- Send a new `Idempotency-Key` with each POST that takes one, and the same when it is repeated.',
    ].join('\n'),
    section(
      'Documents',
      contract.map(({ title, area, summary }) => link(`${title}, OpenAPI 3.1`, `${area}.yaml`, summary)),
    ),
    ...contract.map(({ title, operations }) => section(title, operations.map(operationLine))),
    section('Guides', guides.filter((guide) => !isLog(guide)).map(guideLine)),
    section('Optional', [
      link('Postman collection', 'openapi.postman.json', 'Every operation as a request, with its example.'),
      ...contract.map(({ title, area, summary }) =>
        link(`${title}, OpenAPI 3.0.3`, `${area}-3.0.yaml`, summary),
      ),
      ...guides.filter(isLog).map(guideLine),
      ...manual.map(guideLine),
    ]),
  ];
  return `${parts.join('\n\n')}\n`;
}
