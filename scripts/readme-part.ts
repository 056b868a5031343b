import { readFile, writeFile } from 'node:fs/promises';

/**
 * Puts what a program has measured into the README, in place of what it put there before.
 * @param name of the part: it stands between `<!-- name: made by command -->` and `<!-- /name -->`
 * @throws Error when the README has no such place
 */
export async function writeReadmePart(name: string, text: string): Promise<void> {
  const readme = await readFile('README.md', 'utf8');
  const part = new RegExp(`(<!-- ${name}: [^>]*-->\n)[^]*?(\n<!-- /${name} -->)`);
  if (!part.test(readme)) throw new Error(`README.md has no place for ${name}`);
  await writeFile(
    'README.md',
    readme.replace(part, (_whole, begin: string, end: string) => `${begin}${text}${end}`),
  );
}
