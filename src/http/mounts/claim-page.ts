import { type Request, type Response, Router } from 'express';
import {
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

// Wallets hand their icons over as data. The picture of an asset is where its company put it, which the document lets be http.
const policy = pagePolicy("connect-src 'self'", "img-src 'self' http: https: data:");

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What the claim page says of the deployment that serves it. */
export type ClaimPageOptions = PageOptions & {
  /** What a customer without a wallet reads; without it the page links nothing. */
  readonly walletHelpUrl?: string | undefined;
};

/**
 * Creates the router of the claim page, to be mounted at `/claim`. The page is the same for every NFT and names none:
 * it reads what there is to claim by itself, with the secret, which is in the fragment and does not get here.
 */
export function createClaimPageRouter(options: ClaimPageOptions): Router {
  const html = htmlOfPage('claim', options, {
    help: options.supportUrl,
    'wallet-help': options.walletHelpUrl,
  });
  const page = pageFile(html);
  const barePage = pageFile(html, 'claim');

  const router = Router({ strict: true, caseSensitive: true });
  const sendPage = (request: Request, response: Response, file: PageFile) =>
    sendFile(request, response, file, { 'Content-Security-Policy': policy });
  router.use(sendFiles(filesOfPage('claim')));
  router.all('/', (request, response) => {
    const isBare = request.originalUrl.replace(/[?].*$/, '').endsWith('/');
    sendPage(request, response, isBare ? page : barePage);
  });
  router.all('/:nftId', (request, response) => {
    // The page itself explains a link that was cut short.
    response.status(uuid.test(request.params.nftId) ? 200 : 404);
    sendPage(request, response, page);
  });
  router.all('/:nftId/', (request, response, next) => {
    const { nftId } = request.params;
    if (!uuid.test(nftId)) return next();
    leadOn(request, response, nftId);
  });
  return router;
}
