import { parse } from 'yaml';
import { z } from 'zod';

const shape = z.array(
  z.strictObject({
    title: z.string(),
    groups: z.array(
      z.strictObject({
        title: z.string(),
        pages: z.array(z.strictObject({ page: z.string(), label: z.string() })).min(1),
      }),
    ),
  }),
);

/** The sections of the portal; `page` is the path of a page without `.html`. */
export type Navigation = z.infer<typeof shape>;
export type Section = Navigation[number];

/** The pages of a section, in the order in which the portal shows them. */
export const pagesOf = ({ groups }: Section) => groups.flatMap(({ pages }) => pages);

/** The navigation without sections of which no page is published. */
export const sectionsWith = (navigation: Navigation, published: readonly string[]): Navigation =>
  navigation.filter((section) => pagesOf(section).some(({ page }) => published.includes(page)));

/** Reads the navigation. @throws Error unless it names exactly the pages that there are */
export function readNavigation(yaml: string, there: readonly string[]): Navigation {
  const navigation = shape.parse(parse(yaml));
  const named = navigation.flatMap(pagesOf).map(({ page }) => page);
  const missing = there.filter((page) => !named.includes(page));
  const surplus = named.filter((page) => !there.includes(page));
  if (missing.length > 0) throw new Error(`Pages that the navigation lacks: ${missing.join(', ')}`);
  if (surplus.length > 0)
    throw new Error(`The navigation names pages that do not exist: ${surplus.join(', ')}`);
  return navigation;
}
