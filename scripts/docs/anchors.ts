/**
 * Creates a function that gives each heading of a page its anchor, as hosts of git do. A repeated heading gets a number.
 * @returns the function; its argument is the Markdown of a heading
 */
export function createAnchors(): (heading: string) => string {
  const taken = new Set<string>();
  return (heading) => {
    const slug = heading
      .replaceAll(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; taken.has(anchor); count += 1) anchor = `${slug}-${count}`;
    taken.add(anchor);
    return anchor;
  };
}
