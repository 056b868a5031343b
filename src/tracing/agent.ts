import http from 'node:http';
import https from 'node:https';

/** Connections of a library that makes its own calls to this URL: `destroy` cuts those under way, too. */
export const createAgent = (url: string): http.Agent =>
  new (url.startsWith('https:') ? https : http).Agent({ keepAlive: true });
