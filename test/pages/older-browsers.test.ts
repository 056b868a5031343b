import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { pagesFolder } from './page-modules.ts';

const modules = globSync('*/*.js', { cwd: fileURLToPath(pagesFolder) });
const textOf = (name: string) => readFileSync(new URL(name, pagesFolder), 'utf8');

const written = (text: string, target: ts.ScriptTarget) =>
  ts.transpileModule(text, {
    compilerOptions: { target, module: ts.ModuleKind.ESNext, removeComments: true },
  }).outputText;
const isOfYear = (text: string, target: ts.ScriptTarget) =>
  written(text, target) === written(text, ts.ScriptTarget.ESNext);

// What the compiler says of a function that a library of the language has got later, and of a name that nothing declares.
const [laterFunction, unknownName] = [2550, 2304];

/** What the compiler says by these codes of the scripts. */
function faultsIn(files: readonly string[], codes: readonly number[]): string[] {
  const options: ts.CompilerOptions = {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2021,
    module: ts.ModuleKind.ES2020,
    lib: ['lib.es2021.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  };
  const program = ts.createProgram([...files], options);
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ code }) => codes.includes(code))
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

describe('the scripts of pages', () => {
  test.each(modules)('%s is written as browsers of 2021 read it', (name) => {
    expect(isOfYear(textOf(name), ts.ScriptTarget.ES2021)).toBe(true);
    // Safari has looked behind in expressions since 16.4.
    expect(textOf(name)).not.toMatch(/\(\?<[=!]/);
  });

  test('old-browser.js is read by browsers that know no modules', () => {
    expect(isOfYear(textOf('shared/old-browser.js'), ts.ScriptTarget.ES5)).toBe(true);
    expect(textOf('shared/old-browser.js')).not.toMatch(/\b(import|export)\b/);
  });

  test('call no function that the language has got later', () => {
    // With one that calls two.
    const files = [
      new URL('later.js', import.meta.url),
      ...modules.map((name) => new URL(name, pagesFolder)),
    ];
    const found = faultsIn(
      files.map(({ pathname }) => pathname),
      [laterFunction],
    );
    expect(found.map((line) => line.replace(/:.*/s, ''))).toEqual(Array(2).fill(files[0]?.pathname));
  });

  test('use no name that they do not import or make', () => {
    const files = modules.map((name) => new URL(name, pagesFolder).pathname);
    expect(faultsIn(files, [unknownName])).toEqual([]);
  });

  test('may use the package that writes QR codes, so that every guest has a ticket', () => {
    const encoder = readFileSync(createRequire(import.meta.url).resolve('qr'), 'utf8');
    expect(isOfYear(encoder, ts.ScriptTarget.ES2021)).toBe(true);
  });

  test('that are too new would be seen', () => {
    expect(isOfYear('class A { x = 1 }', ts.ScriptTarget.ES2021)).toBe(false);
    expect(isOfYear('let a = 1', ts.ScriptTarget.ES5)).toBe(false);
  });
});
