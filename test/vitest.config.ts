import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { otherTests, processTests, slowTests } from './groups.ts';

const isCluster = process.env['CITUS_URL'] !== undefined;
// Files wait for PostgreSQL and chains half of their time: two workers left two cores idle for 40 % of it.
// Faults are judged by times, and a cluster has connections for a few files.
const maxWorkers = process.env['FAULTS'] === 'all' || isCluster ? 2 : 4;

// vitest loads its configuration by the default export.
// biome-ignore lint/style/noDefaultExport: required by vitest
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'threads',
    // Test files change nothing that another one sees, and share the modules: read anew for each, they took longer
    // than the tests.
    isolate: false,
    // These limits end only what hangs. Tests and hooks set none of their own: a limit near the usual time fails next
    // to other work, and says nothing about the service.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What is polled for comes at once on an idle machine; beside other tests it waits for a core.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['test/**/*.test.ts'],
          exclude: [...otherTests, ...processTests, ...slowTests],
          maxWorkers,
        },
      },
      {
        extends: true,
        test: { name: 'slow', include: [...slowTests], exclude: [...otherTests], maxWorkers },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: [...processTests],
          exclude: [...otherTests],
          // Each file has several processes itself, and waits for their starts and stops more than half of its time.
          // After the others, if both are run.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
