import type { Area } from '../../src/config/config.ts';
import type { AreaContract } from './contract.ts';
import { escapeHtml } from './markup.ts';

/** The forms in which each document is published: what readers call it, and its file. */
export const documentForms = (area: Area) =>
  [
    { title: 'OpenAPI 3.1, YAML', file: `${area}.yaml` },
    { title: 'OpenAPI 3.1, JSON', file: `${area}.json` },
    { title: 'OpenAPI 3.0.3, YAML', file: `${area}-3.0.yaml` },
    { title: 'OpenAPI 3.0.3, JSON', file: `${area}-3.0.json` },
  ] as const;

/** Links to every form of every document. */
export function documentTable(contract: readonly AreaContract[]): string {
  const rows = contract.map(({ area, title }) => {
    const [yaml, json, oldYaml, oldJson] = documentForms(area).map(
      ({ file, title: form }) =>
        `<a href="${file}" aria-label="${escapeHtml(title)}, ${form}">${form.replace(/.*, /, '')}</a>`,
    );
    return `<tr><th scope="row">${escapeHtml(title)}</th><td>3.1 ${yaml} · ${json}</td><td>3.0.3 ${oldYaml} · ${oldJson}</td></tr>`;
  });
  return `<table class="stack"><thead><tr><th scope="col">Area</th><th scope="col">OpenAPI 3.1</th><th scope="col">OpenAPI 3.0.3</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}
