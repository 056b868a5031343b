import type { AreaContract } from './contract.ts';
import { samplesOf } from './samples/samples.ts';

type Node = Record<string, unknown>;

/** A bundle with the code samples of each operation as `x-codeSamples`, which only its page shows. */
export function withSamples(bundle: Node, { operations }: AreaContract): Node {
  const document = structuredClone(bundle) as Node & { paths: Record<string, Record<string, Node>> }; // linted
  for (const operation of operations) {
    const node = document.paths[operation.path]?.[operation.method.toLowerCase()];
    if (node === undefined) throw new Error(`The bundle has no ${operation.method} ${operation.path}`);
    node['x-codeSamples'] = samplesOf(operation).map(({ language, label, source }) => ({
      lang: language === 'shell' ? 'curl' : language,
      label,
      source,
    }));
  }
  return document;
}
