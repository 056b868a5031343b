import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// vitest loads its configuration by the default export.
// biome-ignore lint/style/noDefaultExport: required by vitest
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    // Of another kind. `npm run faults`: everything that can go wrong with a mint; `npm run test:portal`: the portal
    // in a browser, which needs more than npm.
    exclude: [
      '**/node_modules/**',
      'test/portal/site/**',
      ...(process.env['FAULTS'] === 'all' ? [] : ['test/minting/faults/**']),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'threads',
    maxWorkers: 2,
    // Test files change nothing that another one sees, and share the modules: read anew for each, they took longer
    // than the tests.
    isolate: false,
    // In a cluster every write commits in two phases on several nodes.
    testTimeout: process.env['CITUS_URL'] === undefined ? 30_000 : 300_000,
    hookTimeout: 60_000,
  },
});
