import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// vitest loads its configuration by the default export.
// biome-ignore lint/style/noDefaultExport: required by vitest
export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    include: ['test/portal/site/**/*.test.ts'],
    globalSetup: ['test/portal/site/start-service.ts'],
    pool: 'threads',
    // Claims wait for their mints.
    maxWorkers: 3,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
