import type { ServerResponse } from 'node:http';

type AtEnd = (response: ServerResponse) => void;

const ends = Symbol('what is done when the answer is over');
type Answer = ServerResponse & { [ends]?: AtEnd[] };

/**
 * Calls a function when the answer has left, or its connection is closed. One listener of Node for all of them: each one
 * more costs a short answer a hundredth.
 */
export function whenOver(response: Answer, end: AtEnd): void {
  const known = response[ends];
  if (known !== undefined) {
    known.push(end);
    return;
  }
  response[ends] = [end];
  response.on('close', endAll);
}

function endAll(this: Answer): void {
  for (const end of this[ends] ?? []) end(this);
}
