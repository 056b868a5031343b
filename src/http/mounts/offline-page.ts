import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Router } from 'express';
import {
  fileOf,
  filesOfPage,
  htmlOfPage,
  leadOn,
  type PageFile,
  type PageOptions,
  pageFile,
  pagePolicy,
  sendFile,
  sendFiles,
} from './page-files.ts';

// The empty icon of the pages, without which a browser asks for one.
const icon = 'img-src data:';

// The page at the door asks the service. The page of a ticket has no address to ask at all.
const policies = { door: pagePolicy("connect-src 'self'", icon), ticket: pagePolicy(icon) } as const;

// The worker asks for the files of its page again.
const workerPolicy = pagePolicy("connect-src 'self'");
const workerFile = 'shared/worker.js';

/** Pages that open without a network. */
export type OfflinePage = keyof typeof policies;

/**
 * Creates the router of a page that opens without a network, to be mounted at its name. The page is the same for
 * everybody: key and ticket are in the fragment, which does not get here.
 */
export function createOfflinePageRouter(name: OfflinePage, options: PageOptions): Router {
  const page = pageFile(htmlOfPage(name, options, { help: options.supportUrl }), name);
  const files = new Map([...filesOfPage(name), ...filesOfQr()]);
  const worker = workerOf(page, files);

  const router = Router({ strict: true, caseSensitive: true });
  router.all('/worker.js', (request, response) =>
    sendFile(request, response, worker, {
      'Content-Security-Policy': workerPolicy,
      // The page is above the folder of the worker.
      'Service-Worker-Allowed': `../${name}`,
    }),
  );
  router.use(sendFiles(files));
  router.all('/', (request, response) => {
    const isBare = request.originalUrl.replace(/[?].*$/, '').endsWith('/');
    if (isBare) leadOn(request, response, name);
    else sendFile(request, response, page, { 'Content-Security-Policy': policies[name] });
  });
  return router;
}

/** The package that writes and reads QR codes. It is two modules that import each other by their names. */
function filesOfQr() {
  const folder = path.dirname(createRequire(import.meta.url).resolve('qr'));
  return ['index.js', 'decode.js'].map(
    (name) => [`qr/${name}`, fileOf(readFileSync(path.join(folder, name)))] as const,
  );
}

/** The worker of a release: it names all files with their digests, so it changes with each file. */
function workerOf(page: PageFile, files: Map<string, PageFile>): PageFile {
  const paths: [string, string][] = [['', page.digest]];
  for (const [path, { digest }] of files) if (path !== workerFile) paths.push([`/${path}`, digest]);
  const written = files.get(workerFile)?.content.toString();
  files.delete(workerFile);
  return fileOf(`self.files = ${JSON.stringify(Object.fromEntries(paths))};\n${written}`);
}
