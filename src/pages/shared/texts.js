/* The language of the reader, and texts in it. Each page has a table for each language, with the same names. */

const languages = ['en', 'de', 'fr', 'es', 'pt'];

let table = {};
let locale = 'en';

/**
 * Chooses the first language of the browser that has a table, and loads the table.
 * @param load imports the table of a language
 */
export async function loadTexts(load, wanted = navigator.languages || [navigator.language]) {
  const found = wanted.find((each) => languages.includes(languageOf(each)));
  const language = languageOf(found || 'en');
  locale = isLocale(found) ? found : language;
  table = (await load(language)).texts;
  document.documentElement.lang = language;
}

const languageOf = (tag) =>
  String(tag)
    .toLowerCase()
    .split(/[-_@.]/)[0];

/** Whether `Intl` takes it: some browsers on Linux name themselves `en-US@posix`. */
function isLocale(tag) {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/** The text of a name, its `{placeholders}` filled. */
export const text = (name, values = {}) =>
  table[name].replace(/\{(\w+)\}/g, (_, key) => (values[key] === undefined ? '' : values[key]));

/** `in 40 seconds`, `in 15 minutes`, `in 3 hours`. */
export function whenOf(seconds = 30) {
  const [count, unit] =
    seconds <= 90
      ? [seconds, 'second']
      : seconds <= 90 * 60
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3_600), 'hour'];
  return new Intl.RelativeTimeFormat(locale).format(count, unit);
}

// Named by parts: Safari 14.0 does not know `dateStyle`.
const clock = { hour: 'numeric', minute: '2-digit' };

/** Writes a moment in the time zone of the reader. */
export const momentOf = (iso) =>
  new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', day: 'numeric', ...clock }).format(
    new Date(iso),
  );

/** Writes the time of day of a moment, and also the day where that is not today. */
export function timeOf(iso, now = new Date()) {
  const moment = new Date(iso);
  const isToday = moment.toDateString() === now.toDateString();
  return new Intl.DateTimeFormat(
    locale,
    isToday ? clock : { month: 'short', day: 'numeric', ...clock },
  ).format(moment);
}
