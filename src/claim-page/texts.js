/* The language of the reader, and texts in it. Each language has a table, `text-<language>.js`, with the same names. */

const languages = ['en', 'de', 'fr', 'es', 'pt'];

let table = {};
let locale = 'en';

/** Chooses the first language of the browser that has a table, and loads it. */
export async function loadTexts(wanted = navigator.languages || [navigator.language]) {
  const found = wanted.find((each) => languages.includes(languageOf(each)));
  const language = languageOf(found || 'en');
  locale = isLocale(found) ? found : language;
  table = (await import(`./text-${language}.js`)).texts;
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

/** A moment in the reader's time zone. Named by parts: Safari 14.0 does not know `dateStyle`. */
export const momentOf = (iso) =>
  new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  }).format(new Date(iso));
