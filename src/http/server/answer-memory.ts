import type { ServerResponse } from 'node:http';
import { whenOver } from './when-over.ts';

/** Counts the bytes of answers that callers have not read yet, over all connections of the process. */
export type AnswerMemory = {
  /**
   * Counts these bytes until the answer is sent or its connection is closed.
   * @returns false, and counts nothing, when they are too many beside those of all other answers
   */
  hold(response: ServerResponse, bytes: number): boolean;
};

/** @param maxBytes bytes of all answers under way; one answer alone may have more */
export function createAnswerMemory(maxBytes: number): AnswerMemory {
  let held = 0;
  return {
    hold(response, bytes) {
      if (held > 0 && held + bytes > maxBytes) return false;
      held += bytes;
      const release = () => {
        held -= bytes;
      };
      if (response.destroyed) release();
      else whenOver(response, release);
      return true;
    },
  };
}
