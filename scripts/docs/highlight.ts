import { createCssVariablesTheme, createHighlighterCoreSync } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import go from 'shiki/langs/go.mjs';
import http from 'shiki/langs/http.mjs';
import java from 'shiki/langs/java.mjs';
import json from 'shiki/langs/json.mjs';
import kotlin from 'shiki/langs/kotlin.mjs';
import python from 'shiki/langs/python.mjs';
import rust from 'shiki/langs/rust.mjs';
import shell from 'shiki/langs/shellscript.mjs';
import sql from 'shiki/langs/sql.mjs';
import typescript from 'shiki/langs/typescript.mjs';
import { escapeHtml } from './markup.ts';

const grammars = { go, http, java, json, kotlin, python, rust, shell, sql, typescript };

export type Language = keyof typeof grammars | 'text';

/** The names that a fence may have. */
export const isLanguage = (name: string): name is Language => name === 'text' || name in grammars;

// A theme whose colours are names: each becomes a class, since the policy of our pages allows no inline styles.
const theme = 'names';
const classes: Readonly<Record<string, string>> = {
  'var(--token-keyword)': 'keyword',
  'var(--token-constant)': 'constant',
  'var(--token-function)': 'function',
  'var(--token-parameter)': 'parameter',
  'var(--token-string-expression)': 'string',
  'var(--token-comment)': 'comment',
};

/** The classes that parts of code may have; `code.css` has a colour for each. */
export const tokenClasses: readonly string[] = Object.values(classes);

const highlighter = createHighlighterCoreSync({
  themes: [createCssVariablesTheme({ name: theme, variablePrefix: '--' })],
  langs: Object.values(grammars),
  engine: createJavaScriptRegexEngine(),
});

/** Code as HTML whose parts have the classes that `code.css` colours. */
export function highlight(language: Language, source: string): string {
  const lines = highlighter.codeToTokensBase(source, {
    lang: language === 'shell' ? 'shellscript' : language,
    theme,
    // Without a limit of time, after which the rest of a line has no colours: the same sources give the same bytes.
    tokenizeTimeLimit: 0,
  });
  const htmlOf = ({ content, color = '' }: { readonly content: string; readonly color?: string }) => {
    const kind = classes[color];
    return kind === undefined ? escapeHtml(content) : `<span class="${kind}">${escapeHtml(content)}</span>`;
  };
  return lines.map((tokens) => tokens.map(htmlOf).join('')).join('\n');
}
