const censor = '[redacted]';

// Shorter parts are versions and names of networks, which are in words of every node.
const shortestPart = 6;

/** Takes out of a text what must not be shown. */
export type Hide = (text: string) => string;

/**
 * Takes out of the words of a node what `redactUrl` hides of its URL: user, password, segments of the path, and values of the
 * query. Providers name the key of a URL in their errors.
 */
export function createHide({ username, password, pathname, search, searchParams }: URL): Hide {
  const asWritten = search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1));
  const values = [...searchParams.values(), ...asWritten];
  const written = [username, password, basicOf(username, password), ...pathname.split('/'), ...values];
  const parts = [...new Set(written.flatMap((part) => [part, decoded(part)]))]
    .filter((part) => part.length >= shortestPart)
    // The longest first, so that of a part within another nothing stays.
    .sort((a, b) => b.length - a.length);
  return (text) => parts.reduce((left, part) => left.replaceAll(part, censor), text);
}

/** User and password as they are sent. */
const basicOf = (username: string, password: string): string =>
  Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
