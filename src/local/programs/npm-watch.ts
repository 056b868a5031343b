import { commandLineOf, parentOf } from './processes.ts';

const intervalMs = 500;

/**
 * Calls back once when the npm that started this process has ended. npm passes signals on, but no signal and no
 * closed pipe reports its own death, so the parents up to npm are checked twice a second. Nothing is watched
 * when npm is not among the parents, or without /proc.
 * @returns a function that ends the watch
 */
export function watchNpm(onGone: () => void): () => void {
  const links = linksToNpm(process.pid);
  if (links === undefined) return () => {};
  const timer = setInterval(() => {
    if (links.every(({ child, parent }) => parentOf(child) === parent)) return;
    clearInterval(timer);
    onGone();
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

type Link = { readonly child: number; readonly parent: number };

// npm runs a script in a shell, which may or may not replace itself by the script.
function linksToNpm(from: number): Link[] | undefined {
  const links: Link[] = [];
  for (let child = from; links.length < 3; ) {
    const parent = parentOf(child);
    if (parent === undefined || parent <= 1) return undefined;
    links.push({ child, parent });
    const words = commandLineOf(parent);
    if (words.some((word) => /^npm( |$)|npm-cli\.js$/.test(word))) return links;
    child = parent;
  }
  return undefined;
}
