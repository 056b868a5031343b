import { placeholders } from '../../src/http/mounts/deployment.ts';
import { codeBlock, codeTabs, jsonText } from './code-block.ts';
import { type AreaContract, findOperation, type Operation } from './contract.ts';
import type { Layout } from './layout.ts';
import { prose } from './markdown.ts';
import { escapeHtml, fill } from './markup.ts';
import { callOf } from './samples/call.ts';
import { samplesOf } from './samples/samples.ts';

const setup = `export TALLYSTICK=${placeholders.baseUrl}
export TALLYSTICK_KEY=tk_local_…   # your key`;

// One call of each area; none needs to know an id.
const calls = [
  {
    operationId: 'getTokenBalance',
    title: 'Read a balance',
    text: 'The native balance of a wallet, asked of a node of its network and remembered for 60 seconds. `31337` is the network of the service on your machine; take another for [another network](networks.html). With `contractAddress` it is the balance of an ERC-20 token.',
  },
  {
    operationId: 'createEvent',
    title: 'Make an event',
    text: 'Only the name is needed. The answer is the whole event, with what you left out as null. Send an [Idempotency-Key](idempotency.html) when you may have to repeat it.',
  },
  {
    operationId: 'listRwas',
    title: 'See your real-world assets',
    text: 'What your company has issued, page by page. Each asset leads to its NFTs, and from there it is two calls to [an NFT on the chain](minting.html).',
  },
];

function steps(contract: readonly AreaContract[]): string {
  return calls
    .map(({ operationId, title, text }, index) => {
      const operation = findOperation(contract, operationId);
      const { status, answer } = callOf(operation);
      const caption = `<span>Answer <span class="ok">${status}</span></span>`;
      return `        <div class="step">
          <div>
            <h3><b>${index + 2}</b> ${title}</h3>
            ${prose(text, '')}
          </div>
          <div>${codeTabs(samplesOf(operation))}
${codeBlock({ language: 'json', source: jsonText(answer), caption })}</div>
        </div>`;
    })
    .join('\n');
}

function operationRow({ method, path, href, summary, deprecated }: Operation): string {
  const mark = deprecated ? '<span class="tag">deprecated</span>' : '';
  return `<tr><th class="short" scope="row"><span class="verb ${method.toLowerCase()}">${method}</span></th><td><a href="${href}"><code>${escapeHtml(path)}</code></a></td><td>${escapeHtml(summary)}${mark}</td></tr>`;
}

function areaSection({ area, title, summary, basePath, operations }: AreaContract): string {
  return `        <div class="area">
          <h3><a href="${area}.html">${escapeHtml(title)}</a></h3>
          <p>${escapeHtml(summary)} <span class="base">Base address <code>${basePath}</code> · <a href="redoc/${area}.html" aria-label="${escapeHtml(title)} in Redoc">in Redoc</a></span></p>
          <table class="ops stack">
            <thead><tr><th scope="col">Method</th><th scope="col">Path</th><th scope="col">What it does</th></tr></thead>
            <tbody>${operations.map(operationRow).join('\n')}</tbody>
          </table>
        </div>`;
}

/** The page that takes a newcomer from a key to the first answers. */
export function startPage(template: string, contract: readonly AreaContract[], layout: Layout): string {
  const body = fill(template, {
    setup: codeBlock({ language: 'shell', source: setup, caption: 'Shell' }),
    steps: steps(contract),
    areas: contract.map(areaSection).join('\n'),
  });
  const description = 'How to use the Tallystick API: first calls, guides, and the reference of its areas.';
  return layout.page({ title: 'Tallystick API', description, current: 'index.html', body });
}
