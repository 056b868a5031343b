import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Express } from 'express';

type Headers = Readonly<Record<string, string>>;

const common = Symbol('headers of an answer, whatever it is');
type Answer = ServerResponse & { [common]?: Headers };

/**
 * Adds headers to a response whatever it will be. They are written with its head, unless it has others of the same names
 * by then: what is set before costs several times as much, as Node keeps it under names in lower case that it makes anew
 * for each request.
 */
export function addHeaders(response: Answer, headers: Headers): void {
  const added = response[common];
  response[common] = added === undefined ? headers : { ...added, ...headers };
}

export const addedHeader = (response: Answer, name: string): string | undefined => response[common]?.[name];

/** Makes the responses of an app write the headers that were added to them. */
export function writeAddedHeaders({ response: prototype }: Express): void {
  const { writeHead } = prototype;
  const writeAll = function (this: Answer, status: number, ...rest: HeadRest): ServerResponse {
    const { [common]: added = {} } = this;
    const [headers] = rest;
    const isOnlyGiven = typeof headers === 'object' && !Array.isArray(headers);
    if (isOnlyGiven && this.getHeaderNames().length === 0) {
      return writeHead.call(this, status, { ...added, ...headers });
    }
    for (const name in added) if (!this.hasHeader(name)) this.setHeader(name, added[name] ?? '');
    return Reflect.apply(writeHead, this, [status, ...rest]);
  };
  Object.assign(prototype, { writeHead: writeAll });
}

type HeadRest = readonly (string | OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined)[];
