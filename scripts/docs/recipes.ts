import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Code, codeBlock } from './code-block.ts';
import type { Language } from './highlight.ts';
import { escapeHtml } from './markup.ts';

type Recipe = { readonly file: string; readonly language: Language; readonly caption: string };

/** Programs of generated clients that `npm run sdk` compiles and runs, in which lines between marks are shown. */
const recipes: readonly Recipe[] = [
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

/** Their files, relative to the project. */
export const recipeFiles: readonly string[] = recipes.map(({ file }) => join('test/sdk', file));

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

/** How each generated client sends a value, leaves a field out and sends null, as code blocks. */
export async function nullRecipes(root: string): Promise<string> {
  const codes = await Promise.all(
    recipes.map(async ({ file, language, caption }): Promise<Code> => {
      const program = await readFile(join(root, 'test/sdk', file), 'utf8');
      return { language, source: recipeOf(program), caption: escapeHtml(caption) };
    }),
  );
  return codes.map(codeBlock).join('\n');
}
