import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const folder = new URL('../../src/claim-page/', import.meta.url);
const modules = readdirSync(folder).filter((name) => name.endsWith('.js'));
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8');

const written = (text: string, target: ts.ScriptTarget) =>
  ts.transpileModule(text, {
    compilerOptions: { target, module: ts.ModuleKind.ESNext, removeComments: true },
  }).outputText;
const isOfYear = (text: string, target: ts.ScriptTarget) =>
  written(text, target) === written(text, ts.ScriptTarget.ESNext);

// What the compiler says of a function that a library of the language has got later.
const laterFunction = 2550;

function laterFunctionsOf(files: readonly string[]): string[] {
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
    .filter(({ code }) => code === laterFunction)
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

describe('the scripts of the claim page', () => {
  test.each(modules)('%s is written as browsers of 2021 read it', (name) => {
    expect(isOfYear(textOf(name), ts.ScriptTarget.ES2021)).toBe(true);
    // Safari has looked behind in expressions since 16.4.
    expect(textOf(name)).not.toMatch(/\(\?<[=!]/);
  });

  test('old-browser.js is read by browsers that know no modules', () => {
    expect(isOfYear(textOf('old-browser.js'), ts.ScriptTarget.ES5)).toBe(true);
    expect(textOf('old-browser.js')).not.toMatch(/\b(import|export)\b/);
  });

  test('call no function that the language has got later', () => {
    // With one that calls two.
    const files = [new URL('later.js', import.meta.url), ...modules.map((name) => new URL(name, folder))];
    const found = laterFunctionsOf(files.map(({ pathname }) => pathname));
    expect(found.map((line) => line.replace(/:.*/s, ''))).toEqual(Array(2).fill(files[0]?.pathname));
  });

  test('that are too new would be seen', () => {
    expect(isOfYear('class A { x = 1 }', ts.ScriptTarget.ES2021)).toBe(false);
    expect(isOfYear('let a = 1', ts.ScriptTarget.ES5)).toBe(false);
  });
});
