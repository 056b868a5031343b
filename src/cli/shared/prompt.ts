import type { Readable, Writable } from 'node:stream';
import input from '@inquirer/input';
import password from '@inquirer/password';

/** What a person is asked for in a line of text. */
export type Question = {
  readonly message: string;
  /** What an empty answer stands for. */
  readonly otherwise?: string;
  /** The answer is not shown. */
  readonly isSecret?: boolean;
  /** @returns what is wrong with the answer, undefined when nothing is; then it is asked again */
  readonly fault: (answer: string) => string | undefined | Promise<string | undefined>;
};

/** @returns undefined when nobody answers: the input has ended, or Ctrl-C was pressed */
export type Prompt = (question: Question) => Promise<string | undefined>;

type Streams = { readonly input: Readable; readonly output: Writable };

/** Asks in the terminal. The question goes to `output`, so that standard output has results only. */
export function createPrompt({ input: from, output }: Streams): Prompt {
  return async ({ message, otherwise, isSecret, fault }) => {
    if (from.readableEnded) return undefined;
    const validate = async (answer: string) => {
      const wrong = await fault(answer.trim());
      // The line of a secret stays, although nobody sees it. A second paste would go behind it.
      return wrong === undefined ? true : isSecret ? `${wrong} (Ctrl+U empties the line.)` : wrong;
    };
    const ended = new AbortController();
    const end = () => ended.abort();
    from.once('end', end);
    const context = { input: from, output, signal: ended.signal };
    try {
      const answer = isSecret
        ? await password({ message, mask: true, validate }, context)
        : await input({ message, validate, ...(otherwise !== undefined && { default: otherwise }) }, context);
      return answer.trim();
    } catch (error) {
      if (error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name))
        return undefined;
      throw error;
    } finally {
      from.off('end', end);
    }
  };
}
