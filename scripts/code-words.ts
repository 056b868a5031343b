import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** A text of the code that people read. */
export type CodeText = {
  readonly place: string;
  readonly text: string;
  /** Whether it is a comment or a docstring. The others are messages and help. */
  readonly isComment: boolean;
  /** Whether it is a comment in sentences: tags of docstrings and options of commands are none. */
  readonly isProse: boolean;
};

/** The docstrings and comments of a file, without their stars, slashes and code. */
function commentsOf(source: ts.SourceFile): readonly [position: number, text: string][] {
  const { text } = source;
  const found = new Map<number, string>();
  const visit = (node: ts.Node) => {
    let end = -1;
    let first = 0;
    for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
      const comment = text.slice(range.pos, range.end);
      const isLine = comment.startsWith('//');
      if (!isLine) found.set(range.pos, comment.replaceAll(/^\/\*+|\*\/$|\n\s*\*/g, ' '));
      // Lines that follow each other are one text.
      if (end === -1 || text.slice(end, range.pos).trim() !== '') first = range.pos;
      if (isLine) found.set(first, `${first === range.pos ? '' : found.get(first)} ${comment.slice(2)}`);
      end = range.end;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found];
}

const levels = new Set(['info', 'warn', 'error']);

/** Whether the node is a message to the log of a process, such as the text of `log.warn(…)`. */
function isLogged(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { expression, name } = node.expression;
  return levels.has(name.text) && /\blog$/.test(expression.getText());
}

/**
 * The texts that a file gives to operators: every string of a command, messages to the log, and the constant `help` or
 * `usage` of a script.
 */
function helpTextsOf(source: ts.SourceFile): readonly [position: number, text: string][] {
  const isCommand = source.fileName.startsWith('src/cli/');
  const found: [number, string][] = [];
  const visit = (node: ts.Node, isHelp: boolean) => {
    if (ts.isImportDeclaration(node)) return;
    if (isHelp && (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)))
      found.push([node.getStart(source), node.text]);
    const isHelpConstant = ts.isVariableDeclaration(node) && /^(help|usage)$/.test(node.name.getText(source));
    ts.forEachChild(node, (child) => visit(child, isHelp || isHelpConstant || isLogged(node)));
  };
  visit(source, isCommand);
  return found;
}

/** Reads the docstrings of the code, and the help of commands, of which some are in test/. */
export function codeTexts(): CodeText[] {
  const files = globSync(['src/**/*.ts', 'scripts/**/*.ts', 'test/**/command.ts']).toSorted();
  return files
    .filter((file) => !file.includes('generated'))
    .flatMap((file) => {
      const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
      return [...commentsOf(source), ...helpTextsOf(source)].map(([position, text]) => ({
        place: `${file}:${source.getLineAndCharacterOfPosition(position).line + 1}`,
        isComment: source.text.startsWith('/', position),
        isProse: source.text.startsWith('//', position),
        text: text.replaceAll(/`[^`]*`/g, 'code').replaceAll(/@param [\w.]+/g, ''),
      }));
    });
}
