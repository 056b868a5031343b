import { codeBlock, jsonText } from './code-block.ts';
import { type AreaContract, documentNames, type Operation } from './contract.ts';
import type { Layout } from './layout.ts';
import { escapeHtml, fill, inline } from './markup.ts';
import { sampleOf } from './samples.ts';

const setup = `export TALLYSTICK=http://localhost:3000
export TALLYSTICK_KEY=tk_live_…   # your key`;

// One call of each area; the first two work for every company without knowing an id.
const calls = [
  {
    operationId: 'createEvent',
    title: 'Make an event',
    text: 'Only the name is needed. The answer is the whole event, with what you left out as null, and its address in the header `Location`.',
  },
  {
    operationId: 'listRwas',
    title: 'See your real-world assets',
    text: 'Whatever your company has issued, page by page. Each RWA leads to its NFTs, and each NFT to the secret with which its owner claims it.',
  },
  {
    operationId: 'getTokenBalance',
    title: 'Read a balance',
    text: 'The native balance of any wallet on a registered network; add `contractAddress` for an ERC-20 token. On a service that you started yourself, `chainId` is 31337.',
  },
];

function steps(contract: readonly AreaContract[]): string {
  return calls
    .map(({ operationId, title, text }, index) => {
      const { request, status, answer } = sampleOf(contract, operationId);
      return `        <div class="step">
          <div>
            <h3><b>${index + 2}</b> ${title}</h3>
            <p>${inline(text, '')}</p>
          </div>
          <div>${codeBlock('shell', request, 'Request')}
${codeBlock('json', jsonText(answer), `<span>Answer <span class="ok">${status}</span></span>`)}</div>
        </div>`;
    })
    .join('\n');
}

function operationRow({ method, path, href, summary, pending, deprecated }: Operation): string {
  const tags = [pending && 'in a later release', deprecated && 'deprecated'].filter(
    (tag) => tag !== false && tag,
  );
  const marks = tags.map((tag) => `<span class="tag">${tag}</span>`).join('');
  return `<tr><th class="short" scope="row"><span class="verb ${method.toLowerCase()}">${method}</span></th><td><a href="${href}"><code>${escapeHtml(path)}</code></a></td><td>${escapeHtml(summary)}${marks}</td></tr>`;
}

function areaSection({ area, title, summary, basePath, operations }: AreaContract): string {
  return `        <div class="area">
          <h3><a href="${area}.html">${escapeHtml(title)}</a></h3>
          <p>${escapeHtml(summary)} <span class="base">Base address <code>${basePath}</code></span></p>
          <table class="ops stack">
            <thead><tr><th>Method</th><th>Path</th><th>What it does</th></tr></thead>
            <tbody>${operations.map(operationRow).join('\n')}</tbody>
          </table>
        </div>`;
}

function documents(contract: readonly AreaContract[]): string {
  const link = (name: string) => `<a href="${name}">${name}</a>`;
  const rows = contract.map(({ area, title }) => {
    const [json = '', yaml = '', olderJson = '', olderYaml = ''] = documentNames(area).map(link);
    return `<tr><th scope="row">${escapeHtml(title)}</th><td>${yaml}<br>${json}</td><td>${olderYaml}<br>${olderJson}</td></tr>`;
  });
  const generate = 'npx openapi-typescript "$TALLYSTICK/docs/events.yaml" -o events.ts';
  return `        <table class="facts">
          <thead><tr><th>Area</th><th>OpenAPI 3.1</th><th>OpenAPI 3.0.3</th></tr></thead>
          <tbody>${rows.join('\n')}</tbody>
        </table>
        <div class="step"><div><h3>Types for your client</h3><p>Any generator that reads OpenAPI 3.1 will do; here openapi-typescript. For one that reads only 3.0, there is the 3.0.3 form.</p></div>
        <div>${codeBlock('shell', generate, 'Shell')}</div></div>`;
}

/** The page that takes a newcomer from a key to the first answers. */
export function startPage(template: string, contract: readonly AreaContract[], layout: Layout): string {
  const body = fill(template, {
    setup: codeBlock('shell', setup, 'Shell'),
    steps: steps(contract),
    areas: contract.map(areaSection).join('\n'),
    documents: documents(contract),
  });
  const description =
    'How to use the Tallystick API: first calls, the three areas, errors and OpenAPI documents.';
  return layout.page({ title: 'Tallystick API', description, current: 'index.html', body });
}
