import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** A text of the code that people read. */
export type CodeText = { readonly place: string; readonly text: string };

/** Folders whose texts are not checked yet. The list is to shrink. */
const unchecked = ['src/providers/indexer/'];

/** The docstrings of a file, without their stars and their code. */
function docstringsOf(source: ts.SourceFile): readonly [position: number, text: string][] {
  const { text } = source;
  const found = new Map<number, string>();
  const visit = (node: ts.Node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
      const comment = text.slice(pos, end);
      if (comment.startsWith('/**')) found.set(pos, comment.replaceAll(/^\/\*\*|\*\/$|\n\s*\*/g, ' '));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found];
}

/** The texts that a file gives to operators: every string of a command, and the constant `help` or `usage` of a script. */
function helpTextsOf(source: ts.SourceFile): readonly [position: number, text: string][] {
  const isCommand = source.fileName.startsWith('src/cli/');
  const found: [number, string][] = [];
  const visit = (node: ts.Node, isHelp: boolean) => {
    if (ts.isImportDeclaration(node)) return;
    if (isHelp && (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)))
      found.push([node.getStart(source), node.text]);
    const isHelpConstant = ts.isVariableDeclaration(node) && /^(help|usage)$/.test(node.name.getText(source));
    ts.forEachChild(node, (child) => visit(child, isHelp || isHelpConstant));
  };
  visit(source, isCommand);
  return found;
}

/** Reads the docstrings of the code, and the help of commands, of which some are in test/. */
export function codeTexts(): CodeText[] {
  const files = globSync(['src/**/*.ts', 'scripts/**/*.ts', 'test/**/command.ts']).toSorted();
  return files
    .filter((file) => !file.includes('generated') && !unchecked.some((folder) => file.startsWith(folder)))
    .flatMap((file) => {
      const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
      return [...docstringsOf(source), ...helpTextsOf(source)].map(([position, text]) => ({
        place: `${file}:${source.getLineAndCharacterOfPosition(position).line + 1}`,
        text: text.replaceAll(/`[^`]*`/g, 'code').replaceAll(/@param [\w.]+/g, ''),
      }));
    });
}
