import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { quantile } from './load/answers.ts';

// The style card keeps code readable in one sitting. Generated code is excepted. The quantiles keep most code short.
// The maxima are far above them, so that no honest code is bent to fit.
const limits = {
  fileMedian: 90,
  fileP90: 200,
  fileMax: 400,
  functionP90: 23,
  functionMax: 60,
  folderMax: 20,
};
const sources = ['src/**/*.ts', 'scripts/**/*.ts', 'migrations/*.ts'];

// Functions above the maximum. A name leaves the list when its function is short enough, and none is added.
const long = new Set([
  'scripts/bench/index/freshness.ts measureFreshness',
  'scripts/faults/service/cases/flood-goods.ts stockFlooder',
  'scripts/load/fleet.ts startFleet',
  'scripts/load/surroundings.ts startSurroundings',
  'scripts/rehearse/nginx.ts rehearseNginx',
  'src/base/cache/flight-cache.ts createFlightCache',
  'src/base/semaphore.ts createSemaphore',
  'src/chain/rpc/transport/endpoint.ts createRpcEndpoint',
  'src/cli/rwa/rwa-export.ts addExportCommand',
  'src/db/replica/replica-reads.ts createReplicaReads',
  'src/events/checkin/checkin-handlers.ts createCheckInHandlers',
  'src/events/event-handlers.ts createEventHandlers',
  'src/http/dispatch/gate.ts createGate',
  'src/keys/cached-verifier.ts createCachedVerifier',
  'src/news/sending/sender.ts sendToAll',
  'src/outgoing/callee.ts createCallee',
  'src/providers/indexer/follow/block-window.ts createBlockWindow',
  'src/providers/indexer/follow/follower.ts createFollower',
  'src/providers/indexer/follow/index-runner.ts createIndexRunner',
  'src/providers/indexer/follow/node-blocks.ts createNodeBlocks',
  'src/providers/indexer/follow/node-receipts.ts createReader',
  'src/providers/indexer/follow/node-traces.ts createTraceReader',
  'src/providers/indexer/follow/token-values.ts createTokenValues',
  'src/providers/indexer/indexer-provider.ts createIndexerProvider',
  'src/providers/indexer/network-index.ts createNetworkIndex',
  'src/providers/indexer/verification/transfer-checker.ts createTransferChecker',
  'src/providers/moralis/client.ts createMoralisClient',
  'src/rwa/handlers/nft-handlers.ts createNftHandlers',
  'src/rwa/handlers/ownership-handlers.ts createOwnershipHandlers',
  'src/rwa/handlers/ownership-handlers.ts listRwaHolders',
  'src/rwa/handlers/snapshot-handlers.ts createSnapshotHandlers',
  'src/rwa/mint-worker/lane-poll.ts createLanePoll',
  'src/rwa/mint-worker/mint-worker.ts createMintWorker',
  'src/rwa/mint-worker/staff.ts createStaff',
  'src/rwa/ownership/ledger.ts createOwnershipLedger',
  'src/service/service.ts startRoles',
]);

const exporting = /^export (?:async )?(?:const|function\*?|class|type) (\w+)/gm;

const files = globSync(sources, { exclude: (name) => name.includes('generated') }).map((name) => {
  const text = readFileSync(name, 'utf8');
  const exported = [...text.matchAll(exporting)].map(([, word = '']) => word);
  return { name, lines: text.split('\n').length - 1, functions: functionsOf(name, text), exported };
});

type Measured = { readonly name: string; readonly lines: number };

/** Returns the name of a function, or of the declaration around it. */
function nameOf(node: ts.Node): string {
  if ('name' in node && node.name !== undefined) return (node.name as ts.Node).getText(); // every name of a declaration is a node
  return node.parent === undefined ? 'module' : nameOf(node.parent);
}

/** Returns the lines of each function, from its first line to its last. Nested functions count here and by themselves. */
function functionsOf(name: string, text: string): Measured[] {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const found: Measured[] = [];
  const visit = (node: ts.Node) => {
    ts.forEachChild(node, visit);
    if (!(ts.isFunctionLike(node) && 'body' in node && node.body !== undefined)) return;
    const lines = lineAt(node.getEnd()) - lineAt(node.getStart(source)) + 1;
    found.push({ name: `${name} ${nameOf(node)}`, lines });
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
const tooLong = functions.filter(({ lines }) => lines > limits.functionMax);
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
  ...tooLong
    .filter(({ name }) => !long.has(name))
    .map(({ name, lines }) => `${name} has ${lines} lines, at most ${limits.functionMax}`),
  ...[...long]
    .filter((name) => !tooLong.some((found) => found.name === name))
    .map((name) => `${name} is short enough: remove it from the list in scripts/size.ts`),
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
