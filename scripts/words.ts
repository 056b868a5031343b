import { globSync, readFileSync } from 'node:fs';
import { marked, type Token } from 'marked';
import { codeTexts } from './code-words.ts';
import { quantile } from './load/answers.ts';

/*
 * Fails on long sentences of documentation, guides and comments, and on avoided words there, in docstrings, in messages to
 * the log and in the help of commands. In comments it also fails on constructions that hide the actor or the noun. Prints how long
 * sentences are. The rules and the words to use instead are in docs/contributing/style.md. Code and measured tables are left out.
 */

const longest = 30;
const avoided =
  /\b(tells?|told|telling|hold|holds|held|holding|looks?|looked|looking|anew|besides?|tak(?:e|es|en|ing) on|took on|refus(?:e|es|ed|ing|als?)|st(?:ands?|ood|anding) still|standstill|mend(?:s|ed|ing)?|no matter of)\b/i;
// Constructions of comments that hide the actor or the noun.
const hiding = [
  // `Who waits goes`, `whoever waits`, `for who waits`
  /^who [a-z]+|\b(?:who(?:m?ever)|whichever|(?:by|to|for|of|from|as|but|so) who)\b/i,
  // `those that wait`, `all who wait`, `that which waits`, `but for those`, `is that of the host`
  /\b(?:those (?:that|who|which|of|with|without)|all (?:that|who)|that which|but (?:for|those|that of)|(?:is|was|with|than|as|to|and|by|in|or|on|of) that of)\b/i,
  // `unless a newer one is there`, `the old ones`
  /\b(?:another|the new|the old|the last|the next|the first|the other|a newer|this|that|every|new|older|further) ones?(?=[,.;:)]|$| (?:that|which|of|is|was)\b)|\bones\b/i,
  // `all of them`, `one of these`
  /\b(?:none|some|any|all|most|much|few|one|each|more|less) of (?:(?:it|them)\b|(?:these|those)(?=[,.;:)]|$))/i,
  // `What was done is final`, `of what is not done`
  /(?:^|[.;:(] |\b(?:of|and|or|than|for|by|from|to|as|in|with|on|at|so|but|because|that|if|while|where) )what (?:is|was|are|were|has|had|came|comes|may|else|cannot|nobody|no)\b/i,
];
// Their comments are still to be rewritten. The list only gets shorter.
const later = [
  'scripts/lives',
  'src/chain/minting/',
  'src/compose/',
  'src/http/server/listener.ts',
  'src/rwa/mint-worker/',
  'src/service/',
];
const measured = /<!-- (figures|faults|limits): [\s\S]*?<!-- \/\1 -->/g;
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

type Passage = { readonly text: string; readonly isProse: boolean };

/** The text of a run of inline tokens, where a code span is one word. */
const plain = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      if (token.type === 'codespan') return 'Code';
      return 'tokens' in token && token.tokens !== undefined
        ? plain(token.tokens)
        : ('text' in token && token.text) || ' ';
    })
    .join('');

/** Every paragraph, item, cell and heading of a page. */
function passagesOf(page: string): Passage[] {
  const passages: Passage[] = [];
  marked.walkTokens(marked.lexer(page.replaceAll(measured, '')), (token) => {
    if (
      token.type === 'paragraph' ||
      token.type === 'heading' ||
      (token.type === 'text' && 'tokens' in token)
    )
      passages.push({ text: plain(token.tokens ?? []), isProse: token.type !== 'heading' });
    if (token.type === 'table')
      for (const cell of [...token.header, ...token.rows.flat()])
        passages.push({ text: plain(cell.tokens), isProse: false });
  });
  return passages;
}

const lengthOf = (sentence: string) => sentence.split(' ').filter((word) => /\w/.test(word)).length;

const lengths: number[] = [];
const faults: string[] = [];
const pages = globSync(['docs/**/*.md', 'openapi/portal/guides/*.md']).toSorted();
for (const file of ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages]) {
  for (const { text, isProse } of passagesOf(readFileSync(file, 'utf8'))) {
    for (const { segment } of sentences.segment(text.replaceAll(/\s+/g, ' '))) {
      const length = lengthOf(segment);
      if (isProse && length > 0) lengths.push(length);
      const [word] = avoided.exec(segment) ?? [];
      if (length > longest) faults.push(`${file}: ${length} words: ${segment.trim()}`);
      if (word !== undefined) faults.push(`${file}: avoid "${word}": ${segment.trim()}`);
    }
  }
}

const left = new Set<string>();
for (const { place, text, isComment, isProse } of codeTexts()) {
  for (const { segment } of sentences.segment(text.replaceAll(/\s+/g, ' '))) {
    if (isProse && lengthOf(segment) > longest)
      faults.push(`${place}: ${lengthOf(segment)} words: ${segment.trim()}`);
    const [word] = avoided.exec(segment) ?? [];
    if (word !== undefined) faults.push(`${place}: avoid "${word}": ${segment.trim()}`);
    const found = isComment ? hiding.flatMap((construction) => construction.exec(segment.trim()) ?? []) : [];
    const postponed = later.find((folder) => place.startsWith(folder));
    if (found.length > 0 && postponed !== undefined) left.add(postponed);
    else for (const words of found) faults.push(`${place}: avoid "${words.trim()}": ${segment.trim()}`);
  }
}
for (const folder of later)
  if (!left.has(folder))
    faults.push(`${folder} has plain comments: remove it from the list in scripts/words.ts`);

for (const fault of faults) process.stdout.write(`${fault}\n`);
process.stdout.write(
  `${lengths.length} sentences, median ${quantile(lengths, 0.5)} words, p90 ${quantile(lengths, 0.9)}, longest ${Math.max(...lengths)}\n`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
