import type { Code } from '../code-block.ts';
import type { Operation } from '../contract.ts';
import { type BodyExample, callOf } from './call.ts';
import { curlSample } from './curl.ts';
import { pythonSample } from './python.ts';
import { typescriptSample } from './typescript.ts';

type Sample = Code & { readonly caption: 'curl' | 'TypeScript' | 'Python' };

/**
 * The call of an operation in every language of the portal, made from the operation's examples.
 * @param example of its body; the first that the document shows if left out
 */
export function samplesOf(operation: Operation, example?: BodyExample): Sample[] {
  const call = callOf(operation, example);
  return [
    { language: 'shell', caption: 'curl', source: curlSample(call) },
    { language: 'typescript', caption: 'TypeScript', source: typescriptSample(call) },
    { language: 'python', caption: 'Python', source: pythonSample(call) },
  ];
}
