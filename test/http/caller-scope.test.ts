import { EventEmitter } from 'node:events';
import { setImmediate as nextRound } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Request, Response } from 'express';
import { expect, test } from 'vitest';
import { openScope } from '../../src/http/dispatch/caller-scope.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** A scope, and its response as long as somebody keeps it. */
function openWith(settle: boolean) {
  const response = new EventEmitter() as Response;
  const request = { method: 'GET' } as Request;
  const exchange = { request, response, facts: { requestId: 'a' } };
  const scope = openScope(exchange, { deadlineMs: 60_000, onEnd: () => void response.locals });
  if (settle) scope.settle();
  return { scope, response: new WeakRef(response) };
}

// Scopes outlive the young generation: what one keeps, only a full collection of garbage ends.
test.each([
  [true, 'nothing'],
  [false, 'the response'],
])('a scope that is settled (%s) keeps %s', async (settle) => {
  const { scope, response } = openWith(settle);
  await nextRound();
  collectGarbage();
  expect(response.deref() === undefined).toBe(settle);
  scope.settle();
});
