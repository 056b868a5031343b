import type { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

// Loaded before the service (`--import`), into the folder that LISTENER_COUNT_FOLDER names: writes how many listeners
// stand on the process and on whatever it has open, which no metric tells.
const folder = process.env['LISTENER_COUNT_FOLDER'];
const everyMs = 5_000;

const count = (emitter: EventEmitter) =>
  emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);

const isEmitter = (handle: unknown): handle is EventEmitter =>
  typeof handle === 'object' && handle !== null && 'eventNames' in handle;

function most(): number {
  // Of Node, for debugging: nothing public gives the open things themselves.
  const active = Reflect.get(process, '_getActiveHandles')?.call(process) ?? [];
  const handles: unknown[] = Array.isArray(active) ? active : [];
  return Math.max(count(process), ...handles.filter(isEmitter).map(count));
}

if (folder !== undefined) {
  const file = path.join(folder, `listeners-${process.pid}`);
  setInterval(() => writeFileSync(file, String(most())), everyMs).unref();
}
