#!/usr/bin/env node
// Plain JavaScript, so that any Node can read it: started by its path, `tallystick` gets the Node of the
// machine, which may be too old to run TypeScript as it is. Then the pinned one takes over.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const cli = new URL('./cli.ts', import.meta.url);

if (process.features.typescript) {
  await import(cli.href);
} else {
  const node = pinnedNode();
  if (node === undefined) {
    process.stderr.write(
      `tallystick needs Node 24, and this is ${process.version}. Install Node 24, or run npm ci where a pinned one is available.\n`,
    );
    process.exitCode = 1;
  } else {
    runWith(node);
  }
}

/** @returns {string | undefined} the runtime that the lock file pins for this platform */
function pinnedNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return undefined;
  }
}

/** @param {string} node */
function runWith(node) {
  const child = spawn(node, [fileURLToPath(cli), ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C goes to the whole group, and the child decides what it means.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1;
    else process.kill(process.pid, endBy(signal));
  });
}

/** @param {NodeJS.Signals} signal */
function endBy(signal) {
  process.removeAllListeners(signal);
  return signal;
}
