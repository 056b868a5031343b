import type { Change } from './change.ts';

/**
 * Whether the changelog announces a change: a line under `### Breaking` of its section `## Unreleased`
 * names the change's subject and class, both in backticks.
 */
export function createAnnouncements(changelog: string): (change: Change) => boolean {
  const unreleased = sectionOf(changelog, /^## \[?Unreleased\b/i, /^## /);
  const lines = sectionOf(unreleased, /^### Breaking\b/i, /^### /).split(/\n(?=- )/);
  return ({ subject, class: name }) =>
    lines.some((line) => line.includes(`\`${subject}\``) && line.includes(`\`${name}\``));
}

function sectionOf(text: string, begin: RegExp, next: RegExp): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => begin.test(line));
  if (first === -1) return '';
  const rest = lines.slice(first + 1);
  const length = rest.findIndex((line) => next.test(line));
  return rest.slice(0, length === -1 ? rest.length : length).join('\n');
}
