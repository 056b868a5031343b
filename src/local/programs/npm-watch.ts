import { commandLineOf, parentOf } from './processes.ts';

const intervalMs = 500;

/**
 * Calls back once npm, which started us, is gone. It passes signals on, but not its own sudden end, and
 * stays at the other end of no pipe; so the way up to it is looked at twice a second. Without npm above us,
 * or without /proc, nothing is watched.
 */
export function watchNpm(onGone: () => void): void {
  const way = wayToNpm(process.pid);
  if (way === undefined) return;
  const timer = setInterval(() => {
    if (way.every(({ child, parent }) => parentOf(child) === parent)) return;
    clearInterval(timer);
    onGone();
  }, intervalMs);
  timer.unref();
}

type Link = { readonly child: number; readonly parent: number };

// npm runs a script in a shell, which may or may not take its place.
function wayToNpm(from: number): Link[] | undefined {
  const way: Link[] = [];
  for (let child = from; way.length < 3; ) {
    const parent = parentOf(child);
    if (parent === undefined || parent <= 1) return undefined;
    way.push({ child, parent });
    const words = commandLineOf(parent);
    if (words.some((word) => /^npm( |$)|npm-cli\.js$/.test(word))) return way;
    child = parent;
  }
  return undefined;
}
