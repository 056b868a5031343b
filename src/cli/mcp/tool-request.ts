import type { OperationTool } from './tools.ts';

/** A tool was called with arguments of which no request can be made. The message names the argument and the remedy. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

export type ToolArguments = Readonly<Record<string, unknown>>;

type ToolRequest = {
  readonly method: OperationTool['method'];
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/**
 * The HTTP request of a call. Only what cannot be put into a request is rejected here: all else is for the service to
 * judge. An absent or null parameter is not sent.
 * @throws ArgumentError
 */
export function toRequest(tool: OperationTool, given: ToolArguments, baseUrl: string): ToolRequest {
  const unknown = Object.keys(given).find((name) => !tool.places.has(name));
  if (unknown !== undefined) throw new ArgumentError(unknownArgument(tool, unknown));
  const within = (place: string) => Object.entries(given).filter(([name]) => tool.places.get(name) === place);
  const sent = (place: string) =>
    within(place).flatMap(([name, value]): [string, string][] =>
      value === null || value === undefined ? [] : [[name, textOf(name, value)]],
    );

  const url = new URL(`${baseUrl}${fillPath(tool, new Map(sent('path')))}`);
  for (const [name, text] of sent('query')) url.searchParams.set(name, text);
  const headers = sent('header').map(([name, text]) => [name, headerText(name, text)] as const);
  const body = tool.takesBody ? JSON.stringify(Object.fromEntries(within('body'))) : undefined;
  return {
    method: tool.method,
    url,
    headers: {
      ...Object.fromEntries(headers),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  };
}

function unknownArgument({ name, places }: OperationTool, unknown: string): string {
  const known = [...places.keys()].join(', ');
  return `${unknown} is no argument of ${name}, which takes ${known || 'none'}`;
}

/** Lists are one text with commas, in every document. */
function textOf(name: string, value: unknown): string {
  const items = Array.isArray(value) ? value : [value];
  if (items.some((item) => typeof item === 'object')) {
    throw new ArgumentError(`${name} must be a text, a number, true or false`);
  }
  return items.join(',');
}

function fillPath({ path }: OperationTool, values: ReadonlyMap<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_place, name: string) => {
    const value = values.get(name);
    if (value === undefined || value === '') throw new ArgumentError(`${name} is required`);
    // A URL takes these for a way through folders, however they are encoded.
    if (value === '.' || value === '..') throw new ArgumentError(`${name} cannot be ${value} in an address`);
    return encodeURIComponent(value);
  });
}

function headerText(name: string, text: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new ArgumentError(`${name} must be characters that a header can have`);
}
