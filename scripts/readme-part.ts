import { readFile, writeFile } from 'node:fs/promises';

/** The page of each part that a program measures. */
const pages: Readonly<Record<string, string>> = {
  figures: 'docs/performance.md',
  faults: 'docs/faults.md',
};

/**
 * Replaces a measured part of the documentation.
 * @param name of the part: it stands between `<!-- name: made by command -->` and `<!-- /name -->`
 * @throws Error when no page has such a part
 */
export async function writeReadmePart(name: string, text: string): Promise<void> {
  const file = pages[name];
  if (file === undefined) throw new Error(`No page has the part ${name}`);
  const page = await readFile(file, 'utf8');
  const part = new RegExp(`(<!-- ${name}: [^>]*-->\n)[^]*?(\n<!-- /${name} -->)`);
  if (!part.test(page))
    throw new Error(`${file} has no part "${name}". Add the two comments that enclose the part.`);
  await writeFile(
    file,
    page.replace(part, (_whole, begin: string, end: string) => `${begin}${text}${end}`),
  );
}
