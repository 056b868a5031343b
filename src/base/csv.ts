// Spreadsheets run a cell that begins so, some also behind spaces. Spreadsheets for East Asian languages take the
// full-width signs as well.
const formula = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/;

function cell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Makes a line of a CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe first. */
export const csvLine = (texts: readonly string[]): string => `${texts.map(cell).join(',')}\r\n`;
