import { Hono } from 'hono';

// Ponder does not start without an API of its own; nobody asks this one.
// biome-ignore lint/style/noDefaultExport: required by Ponder
export default new Hono();
