import { defineConfig } from 'orval';

// biome-ignore lint/style/noDefaultExport: orval loads its settings by the default export.
export default defineConfig({
  area: {
    input: process.env['SDK_DOCUMENT'] ?? '',
    output: {
      target: `${process.env['SDK_OUTPUT']}/client.ts`,
      client: 'fetch',
      baseUrl: { runtime: 'process.env.SDK_BASE_URL' },
    },
  },
});
