/** Every page of a list, in order. @param pageAt returns the page at a position, and where the next one begins */
export async function walk<Page extends { readonly next: string | undefined }>(
  pageAt: (position: string | undefined) => Promise<Page>,
): Promise<Page[]> {
  const pages = [await pageAt(undefined)];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next)
    pages.push(await pageAt(next));
  return pages;
}
