import { escapeHtml } from './markup.ts';

/** A page, or a place on one, by what its reader calls it. */
export type Place = { readonly href: string; readonly label: string };

export type Neighbours = { readonly previous?: Place | undefined; readonly next?: Place | undefined };

/** What stands before and after the item at `index` of a list. */
export function neighboursAt<T>(items: readonly T[], index: number, placeOf: (item: T) => Place): Neighbours {
  const at = (position: number) => {
    const item = items[position];
    return item === undefined ? undefined : placeOf(item);
  };
  return { previous: index > 0 ? at(index - 1) : undefined, next: index < 0 ? undefined : at(index + 1) };
}

const link = (rel: 'prev' | 'next', word: string, place: Place | undefined) =>
  place === undefined
    ? ''
    : `<a rel="${rel}" href="${escapeHtml(place.href)}"><span>${word}</span> ${escapeHtml(place.label)}</a>`;

/** The way on from a page to those before and after it; nothing where there are none. */
export function aroundNav({ previous, next }: Neighbours, label = 'Previous and next'): string {
  const links = `${link('prev', 'Previous', previous)}${link('next', 'Next', next)}`;
  return links === '' ? '' : `<nav class="around" aria-label="${escapeHtml(label)}">${links}</nav>`;
}
