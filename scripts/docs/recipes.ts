import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Code, codeBlock } from './code-block.ts';
import type { Language } from './highlight.ts';
import { escapeHtml } from './markup.ts';

/** A program of which the lines between marks are shown. */
type Recipe = { readonly file: string; readonly language: Language; readonly caption: string };

/** How each generated client sends a value, leaves a field out and sends null. */
export const nulls: readonly Recipe[] = [
  {
    file: 'openapi-typescript/events.ts',
    language: 'typescript',
    caption: 'TypeScript: openapi-typescript, and so with the others',
  },
  { file: 'openapi-python-client/main.py', language: 'python', caption: 'Python: openapi-python-client' },
  { file: 'openapi-generator-python/main.py', language: 'python', caption: 'Python: openapi-generator' },
  { file: 'ogen/main.go', language: 'go', caption: 'Go: ogen' },
  { file: 'oapi-codegen/main.go', language: 'go', caption: 'Go: oapi-codegen, with nullable-type: true' },
  { file: 'openapi-generator-go/main.go', language: 'go', caption: 'Go: openapi-generator' },
  {
    file: 'openapi-generator-java/src/Main.java',
    language: 'java',
    caption: 'Java: openapi-generator, library native',
  },
  { file: 'openapi-generator-kotlin/src/Main.kt', language: 'kotlin', caption: 'Kotlin: openapi-generator' },
  { file: 'openapi-generator-rust/src/main.rs', language: 'rust', caption: 'Rust: openapi-generator' },
];

/** The first call with each package of clients. */
export const packages: readonly Recipe[] = [
  { file: 'package-typescript/partner.ts', language: 'typescript', caption: 'TypeScript' },
  { file: 'package-python/partner.py', language: 'python', caption: 'Python' },
];

/** Their files, relative to the project. */
export const recipeFiles: readonly string[] = [...nulls, ...packages].map(({ file }) =>
  join('test/sdk', file),
);

/**
 * The lines of a program between `recipe` and `end`, each a comment of its own, without their indentation.
 * @throws Error when there are none
 */
export function recipeOf(program: string): string {
  const parts = [...program.matchAll(/^([ \t]*)(?:\/\/|#) recipe\n([\s\S]*?)^[ \t]*(?:\/\/|#) end$/gm)];
  if (parts.length === 0) throw new Error('A program has no recipe: no lines between // recipe and // end');
  const lines = parts.flatMap(([, indent = '', text = '']) =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)),
  );
  return lines.join('\n').replaceAll('\t', '  ');
}

/** Lines of programs that `npm run sdk` compiles and runs, as code blocks. */
export async function recipes(root: string, shown: readonly Recipe[]): Promise<string> {
  const codes = await Promise.all(
    shown.map(async ({ file, language, caption }): Promise<Code> => {
      const program = await readFile(join(root, 'test/sdk', file), 'utf8');
      return { language, source: recipeOf(program), caption: escapeHtml(caption) };
    }),
  );
  return codes.map(codeBlock).join('\n');
}
