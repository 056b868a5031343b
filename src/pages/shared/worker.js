/*
 * Keeps a page for times without a network. The service puts a line before this file: `self.files`, the digests of all
 * files of the page by what follows the address of the page. So each release has a worker of its own.
 */

const { scope } = self.registration;
const ofPage = `${scope} `;

/** The cache of this release. */
const nameOfCache = async () =>
  ofPage + (await digestOf(new TextEncoder().encode(JSON.stringify(self.files))));

async function digestOf(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return btoa(String.fromCharCode(...digest))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '');
}

/** Fetches a file. During an upgrade another process may serve another release, whose files do not belong together. */
async function fetchFile([rest, digest]) {
  const response = await fetch(scope + rest, { cache: 'no-cache' });
  if (!response.ok || (await digestOf(await response.clone().arrayBuffer())) !== digest) {
    throw new Error(`${rest} is of another release`);
  }
  return [scope + rest, response];
}

async function install() {
  const found = await Promise.all(Object.entries(self.files).map(fetchFile));
  const cache = await caches.open(await nameOfCache());
  await Promise.all(found.map(([address, response]) => cache.put(address, response)));
  await self.skipWaiting();
}

async function activate() {
  const current = await nameOfCache();
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(ofPage) && name !== current);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** Answers from the cache, since a network at a door is often slower than none. A browser looks for new workers by itself. */
async function answer(request, address) {
  const cache = await caches.open(await nameOfCache());
  return (await cache.match(address)) || fetch(request);
}

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(activate()));
self.addEventListener('fetch', (event) => {
  const address = event.request.url.replace(/[?#].*$/, '');
  if (event.request.method !== 'GET' || !address.startsWith(scope)) return;
  if (address.slice(scope.length) in self.files) event.respondWith(answer(event.request, address));
});
