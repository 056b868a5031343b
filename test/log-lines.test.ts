import { execFile } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createLogLines } from '../src/base/log-lines.ts';

/** An output whose reader takes what is written when it is told to. */
function createOutput() {
  const written: string[] = [];
  const unread: (() => void)[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, taken) {
      written.push(text);
      unread.push(taken);
      output.emit('written');
    },
  });
  return { output, written, read: () => unread.splice(0).forEach((taken) => void taken()) };
}

describe('lines of the log', () => {
  test('are written at once, and together where they come in quick succession', async () => {
    const { output, written, read } = createOutput();
    const lines = createLogLines(output);
    for (const line of ['1\n', '2\n', '3\n']) lines.write(line);
    expect(written).toEqual(['1\n']);
    read();
    await once(output, 'written');
    expect(written).toEqual(['1\n', '2\n3\n']);
  });

  test('are left out while too many are not read, and how many is told when they are', async () => {
    const { output, written, read } = createOutput();
    const lines = createLogLines(output, { mostBytes: 40 });
    let dropped = 0;
    const resumed: number[] = [];
    lines.onDropped(() => {
      dropped += 1;
    });
    lines.onResumed((count) => {
      resumed.push(count);
      lines.write(`${count} were left out\n`);
    });
    for (let index = 0; index < 20; index += 1) lines.write('line\n');
    expect(dropped).toBe(11);
    expect(resumed).toEqual([]);
    read();
    await once(output, 'written');
    read();
    lines.write('next\n');
    lines.write('last\n');
    expect([dropped, resumed]).toEqual([11, [11]]);
    const end = lines.end();
    read();
    await end;
    expect(written.join('')).toBe(`${'line\n'.repeat(9)}11 were left out\nnext\nlast\n`);
  });

  test('that nobody reads end with the patience of the end', async () => {
    const { output, written } = createOutput();
    const lines = createLogLines(output);
    lines.write('1\n');
    lines.write('2\n');
    await lines.end();
    expect(written).toEqual(['1\n']);
  });

  test('are all there when the process ends at once', async () => {
    const module = pathToFileURL(path.resolve('src/base/log-lines.ts'));
    const program = `
      const { createLogLines } = await import('${module}');
      const lines = createLogLines(process.stdout);
      for (let index = 1; index <= 100; index += 1) lines.write(index + '\\n');
      process.exit(3);`;
    const ended = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    await expect(ended).rejects.toMatchObject({
      code: 3,
      stdout: Array.from({ length: 100 }, (_, index) => `${index + 1}\n`).join(''),
    });
  });

  test('that cannot be written are left out one by one, told of, and end nothing', async () => {
    const module = pathToFileURL(path.resolve('src/base/log-lines.ts'));
    const program = `
      const { createLogLines } = await import('${module}');
      const lines = createLogLines(process.stdout);
      let dropped = 0;
      lines.onDropped(() => { dropped += 1; });
      for (let index = 1; index <= 100; index += 1) lines.write(index + '\\n');
      await lines.end();
      setImmediate(() => process.stderr.write(String(dropped)));`;
    const { stderr } = await promisify(execFile)('/bin/sh', [
      ...['-c', '"$@" > /dev/full', 'sh'],
      ...[process.execPath, '--input-type=module', '-e', program],
    ]);
    expect(stderr).toBe('100');
  });

  test('are for nobody when who read them has gone, which ends nothing', async () => {
    const output = new Writable({ write: (_chunk, _encoding, taken) => taken(new Error('write EPIPE')) });
    const lines = createLogLines(output);
    lines.write('1\n');
    await new Promise((resolve) => output.once('close', resolve));
    lines.write('2\n');
    await lines.end();
    expect(output.destroyed).toBe(true);
  });
});
