import type { Command } from 'commander';

/** Adds examples to the help of a command, each without the program's name. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  const shown = lines.map((line) => `  $ tallystick ${line}`).join('\n');
  return command.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${shown}`);
}
