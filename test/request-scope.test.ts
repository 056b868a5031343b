import { describe, expect, test, vi } from 'vitest';
import { currentScope, inScope, type OnEnd, watchEnd, withEnd } from '../src/base/request-scope.ts';

const reason = new Error('gone');
const work = (end: AbortController) => ({ signal: end.signal, isRead: true });
const ending = (reason: Error | undefined) => {
  const listeners = new Set<OnEnd>();
  const watch = (listener: OnEnd) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { listeners, scope: { ...work(new AbortController()), ending: { reason, watch } } };
};

describe('who watches the end of work', () => {
  test('is told of it, and nothing when it is forgotten before', () => {
    const end = new AbortController();
    const [told, forgotten] = [vi.fn(), vi.fn()];
    watchEnd(work(end), told);
    watchEnd(work(end), forgotten)();
    end.abort(reason);
    expect(told).toHaveBeenCalledExactlyOnceWith(reason);
    expect(forgotten).not.toHaveBeenCalled();
    const { listeners, scope } = ending(undefined);
    const forget = watchEnd(scope, told);
    expect(listeners).toEqual(new Set([told]));
    forget();
    expect(listeners).toEqual(new Set());
  });

  test('after it is told of it soon, but not while its watcher begins', async () => {
    const end = new AbortController();
    end.abort(reason);
    for (const scope of [work(end), ending(reason).scope]) {
      const [told, forgotten] = [vi.fn(), vi.fn()];
      watchEnd(scope, told);
      watchEnd(scope, forgotten)();
      expect(told).not.toHaveBeenCalled();
      await Promise.resolve();
      expect(told).toHaveBeenCalledExactlyOnceWith(reason);
      expect(forgotten).not.toHaveBeenCalled();
    }
  });
});

describe('work that has an end of its own', () => {
  test('ends by it or with the request, whose facts it keeps, and the request goes on', () => {
    for (const isOwn of [true, false]) {
      const [request, own] = [new AbortController(), new AbortController()];
      inScope({ ...work(request), tenant: 'acme' }, () => {
        const scope = withEnd(own.signal, currentScope);
        expect(scope).toMatchObject({ tenant: 'acme', ending: undefined });
        (isOwn ? own : request).abort(reason);
        expect(scope?.signal.reason).toBe(reason);
        expect(currentScope()?.signal.aborted).toBe(!isOwn);
      });
    }
  });

  test('ends by it in the background', () => {
    const own = new AbortController();
    const scope = withEnd(own.signal, currentScope);
    own.abort(reason);
    expect(scope?.signal.reason).toBe(reason);
    expect(currentScope()).toBeUndefined();
  });
});
