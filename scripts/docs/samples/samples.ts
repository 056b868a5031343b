import type { Operation } from '../contract.ts';
import { type BodyExample, callOf } from './call.ts';
import { curlSample } from './curl.ts';
import { pythonSample } from './python.ts';
import { typescriptSample } from './typescript.ts';

export type Sample = {
  readonly language: 'shell' | 'typescript' | 'python';
  /** What readers call it. */
  readonly label: 'curl' | 'TypeScript' | 'Python';
  readonly source: string;
};

/**
 * The call of an operation in every language of the portal, made from the operation's examples.
 * @param example of its body; the first that the document shows if left out
 */
export function samplesOf(operation: Operation, example?: BodyExample): Sample[] {
  const call = callOf(operation, example);
  return [
    { language: 'shell', label: 'curl', source: curlSample(call) },
    { language: 'typescript', label: 'TypeScript', source: typescriptSample(call) },
    { language: 'python', label: 'Python', source: pythonSample(call) },
  ];
}
