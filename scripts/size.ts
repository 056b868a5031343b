import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { quantile } from './load/answers.ts';

// The style card: what keeps code readable in one sitting. Generated code is excepted.
// The quantiles hold most of it short; the maxima are far above them, so that no honest code is bent to fit.
const limits = {
  fileMedian: 90,
  fileP90: 200,
  fileMax: 400,
  functionP90: 20,
  functionMax: 60,
  folderMax: 20,
};
const sources = ['src/**/*.ts', 'scripts/**/*.ts', 'migrations/*.ts'];

const exporting = /^export (?:async )?(?:const|function\*?|class|type) (\w+)/gm;

const files = globSync(sources, { exclude: (name) => name.includes('generated') }).map((name) => {
  const text = readFileSync(name, 'utf8');
  const exported = [...text.matchAll(exporting)].map(([, word = '']) => word);
  return { name, lines: text.split('\n').length - 1, functions: functionsOf(name, text), exported };
});

/**
 * Lines of each function, from its first line to its last. Nested functions count by themselves and not with what is around
 * them: a factory with the methods of its object is as long as a class would be, and each method is read by itself.
 */
function functionsOf(name: string, text: string): { name: string; lines: number }[] {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const found: { name: string; lines: number }[] = [];
  /** @returns the lines of the functions in a node */
  const visit = (node: ts.Node): number => {
    let inner = 0;
    ts.forEachChild(node, (child) => {
      inner += visit(child);
    });
    if (!(ts.isFunctionLike(node) && 'body' in node && node.body !== undefined)) return inner;
    const first = lineAt(node.getStart(source));
    const lines = lineAt(node.getEnd()) - first + 1;
    found.push({ name: `${name}:${first + 1}`, lines: lines - inner });
    // A function within one line of another takes no line away.
    return lines - 1;
  };
  visit(source);
  return found;
}

const owners = Map.groupBy(
  files
    .filter(({ name }) => name.startsWith('src'))
    .flatMap(({ name, exported }) => exported.map((word) => ({ name, word }))),
  ({ word }) => word,
);
const folders = Map.groupBy(files, ({ name }) => path.dirname(name));

const fileLines = files.map(({ lines }) => lines);
const functions = files.flatMap((file) => file.functions);
// One-line arrows say nothing about how long functions are.
const functionLines = functions.map(({ lines }) => lines).filter((lines) => lines > 1);
const measured = {
  fileMedian: quantile(fileLines, 0.5),
  fileP90: quantile(fileLines, 0.9),
  functionP90: quantile(functionLines, 0.9),
};
const faults = [
  ...Object.entries(measured)
    .filter(([name, value]) => value > limits[name as keyof typeof measured]) // the keys of measured
    .map(([name, value]) => `${name} is ${value}, at most ${limits[name as keyof typeof measured]}`),
  ...files
    .filter(({ lines }) => lines > limits.fileMax)
    .map(({ name, lines }) => `${name} has ${lines} lines`),
  ...functions
    .filter(({ lines }) => lines > limits.functionMax)
    .map(({ name, lines }) => `the function at ${name} has ${lines} lines`),
  ...[...folders]
    .filter(([folder, { length }]) => folder.startsWith('src') && length > limits.folderMax)
    .map(([folder, { length }]) => `${folder} has ${length} files, at most ${limits.folderMax}`),
  // One name has one meaning.
  ...[...owners]
    .filter(([, { length }]) => length > 1)
    .map(([word, found]) => `${word} is exported by ${found.map(({ name }) => name).join(' and ')}`),
];

process.stdout.write(
  `${files.length} files, median ${measured.fileMedian} lines, p90 ${measured.fileP90}; functions p90 ${measured.functionP90}\n`,
);
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
