import type { RequestHandler } from 'express';

type Mounted = { readonly path: string; readonly handler: RequestHandler };

const slash = '/'.charCodeAt(0);
const questionMark = '?'.charCodeAt(0);

/**
 * Hands each request to the handler of its base path, as a mount of Express does, which tries one after the other and
 * puts the path together again behind them. None of the handlers passes a request on.
 */
export function atBasePaths(mounts: readonly Mounted[]): RequestHandler {
  return (request, response, next) => {
    const { url } = request;
    const mount = mounts.find(({ path }) => url.startsWith(path) && isEnd(url.charCodeAt(path.length)));
    if (mount === undefined) return next();
    const rest = url.slice(mount.path.length);
    request.baseUrl = mount.path;
    request.url = rest.startsWith('/') ? rest : `/${rest}`;
    return mount.handler(request, response, next);
  };
}

/** Whether a path ends before this character; NaN stands for the end of the path. */
const isEnd = (code: number) => code === slash || code === questionMark || Number.isNaN(code);
