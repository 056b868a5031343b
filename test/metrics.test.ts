import { expect, test, vi } from 'vitest';
import { createMetrics } from '../src/base/metrics.ts';

const labels = { chain_id: '1' };
const gauges = { depth: { name: 'tallystick_test_depth', help: 'Depth.', labels: ['chain_id'] } } as const;

function metricsOf(read: () => Promise<{ depth: { labels: typeof labels; value: number }[] }>) {
  const onFailure = vi.fn();
  const metrics = createMetrics(onFailure);
  metrics.levels({ gauges, sources: () => [{ name: 'test', read }] });
  const requests = metrics.counter({ name: 'tallystick_test_total', help: 'Requests.' });
  return { metrics, requests, onFailure };
}

test('asks for levels at each scrape', async () => {
  let value = 7;
  const { metrics } = metricsOf(async () => ({ depth: [{ labels, value }] }));
  expect((await metrics.scrape()).text).toContain('tallystick_test_depth{chain_id="1"} 7\n');
  value = 8;
  expect((await metrics.scrape()).text).toContain('tallystick_test_depth{chain_id="1"} 8\n');
});

test('tells everything else while a level cannot be read, and no value that was true once', async () => {
  const read = vi.fn(async () => ({ depth: [{ labels, value: 7 }] }));
  const { metrics, requests, onFailure } = metricsOf(read);
  await metrics.scrape();
  const down = new Error('down');
  read.mockRejectedValueOnce(down);
  requests.inc();
  const { text } = await metrics.scrape();
  expect(text).toContain('tallystick_test_total 1\n');
  expect(text).toContain('tallystick_scrape_failures_total{source="test"} 1\n');
  expect(text).not.toContain('tallystick_test_depth{');
  expect(onFailure).toHaveBeenCalledExactlyOnceWith('test', down);
  expect((await metrics.scrape()).text).toContain('tallystick_test_depth{chain_id="1"} 7\n');
});

test('waits 2 s for a level at most, and asks once until it is answered', async () => {
  vi.useFakeTimers();
  try {
    const hang = Promise.withResolvers<{ depth: [] }>();
    const read = vi.fn(() => hang.promise);
    const { metrics, onFailure } = metricsOf(read);
    const scrapes = [metrics.scrape(), metrics.scrape()];
    await vi.advanceTimersByTimeAsync(2_000);
    for (const { text } of await Promise.all(scrapes)) expect(text).toContain('tallystick_test_total 0\n');
    expect(onFailure).toHaveBeenCalledTimes(2);
    expect(read).toHaveBeenCalledTimes(1);
    hang.resolve({ depth: [] });
    await metrics.scrape();
    await metrics.scrape();
    expect(read).toHaveBeenCalledTimes(2);
  } finally {
    vi.useRealTimers();
  }
});

test('a gauge without labels and without a level has no value', async () => {
  const metrics = createMetrics(vi.fn());
  const spec = { used: { name: 'tallystick_test_used', help: 'Used.' } } as const;
  metrics.levels({ gauges: spec, sources: () => [{ name: 'test', read: async () => ({}) }] });
  expect((await metrics.scrape()).text).not.toMatch(/^tallystick_test_used /m);
});
