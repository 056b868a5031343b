import { defineConfig } from '@kubb/core';
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';

// biome-ignore lint/style/noDefaultExport: kubb loads its settings by the default export.
export default defineConfig({
  input: { path: process.env['SDK_DOCUMENT'] ?? '' },
  output: { path: process.env['SDK_OUTPUT'] ?? '', extension: { '.ts': '.js' }, format: false, lint: false },
  plugins: [pluginOas({ generators: [] }), pluginTs(), pluginClient()],
});
