import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { encode } from 'fast-png';
import encodeQr from 'qr';
import { errorCode, errorText } from '../../base/thrown.ts';
import type { ExportRow } from '../../rwa/operators/rwa-export-store.ts';
import { UsageError } from '../shared/failure.ts';

/** What stands below each code of a sheet, with its serial. */
export type Caption = { readonly company: string; readonly asset: string; readonly text: string | undefined };

type QrOptions = {
  /** A folder that does not exist yet. */
  readonly folder: string;
  readonly format: QrFormat;
  readonly caption: Caption;
  readonly signal: AbortSignal;
};

// A browser prints so many pages at once without trouble: 42 of A4.
const codesOnSheet = 1_000;

/**
 * Makes a folder with a file for each code, `000001.svg`, and sheets to print, `sheet-001.html`; completely, or not at
 * all. Only its maker can read it.
 * @returns how many codes there are, and from which width in millimetres on all scan
 * @throws UsageError when the folder exists or cannot be made
 */
export async function writeQrFolder(
  rows: AsyncIterable<ExportRow>,
  { folder, format, caption, signal }: QrOptions,
): Promise<{ readonly count: number; readonly smallest: number }> {
  await mkdir(folder, { mode: 0o700 }).catch((error) => explainFolder(folder, error));
  try {
    let count = 0;
    let longest = '';
    for await (const { serial, url } of rows) {
      signal.throwIfAborted();
      const content = format === 'svg' ? svgOf(url) : pngOf(url);
      await writeFile(path.join(folder, `${serial}.${format}`), content, { mode: 0o600, flag: 'wx' });
      await addToSheet(folder, count, { serial, url, caption });
      if (url.length > longest.length) longest = url;
      count += 1;
    }
    await endSheet(folder, count);
    return { count, smallest: printableMm(longest) };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

type Code = { readonly serial: string; readonly url: string; readonly caption: Caption };

const sheetOf = (folder: string, index: number) =>
  path.join(folder, `sheet-${String(Math.floor(index / codesOnSheet) + 1).padStart(3, '0')}.html`);

async function addToSheet(folder: string, index: number, { serial, url, caption }: Code): Promise<void> {
  const isFirst = index % codesOnSheet === 0;
  if (isFirst) await endSheet(folder, index);
  const [company, asset, text] = [caption.company, caption.asset, caption.text ?? ''].map(escapeHtml);
  const last = text === '' ? '' : `<p class="text">${text}</p>`;
  const lines = `<p>${company}</p><p>${asset}</p><p><b>${serial}</b></p>${last}`;
  const code = `<figure>${svgOf(url)}<figcaption>${lines}</figcaption></figure>\n`;
  await append(sheetOf(folder, index), isFirst ? sheetHead(`${company}, ${asset}`) + code : code);
}

/** @param count codes so far; the last of them stands on the sheet that ends */
async function endSheet(folder: string, count: number): Promise<void> {
  if (count > 0) await append(sheetOf(folder, count - 1), '</main></body></html>\n');
}

async function append(file: string, text: string): Promise<void> {
  const opened = await open(file, 'a', 0o600);
  try {
    await opened.writeFile(text);
  } finally {
    await opened.close();
  }
}

// 24 codes on a page of A4 or Letter, each 26 mm wide with its border.
const sheetHead = (name: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${name}: claim codes</title>
<style>
@page { margin: 12mm }
body { margin: 0; background: #fff; color: #000; font: 7pt/1.15 system-ui, sans-serif }
main { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 1.5mm 2mm }
figure { margin: 0; text-align: center; break-inside: avoid }
svg { width: 26mm; height: 26mm; display: block; margin: auto }
figcaption { height: 14.2mm }
p { margin: 0; overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
p.text { white-space: normal; overflow-wrap: anywhere; max-height: 2.3em }
</style></head><body><main>
`;

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function explainFolder(folder: string, error: unknown): never {
  const code = errorCode(error);
  if (code === 'EEXIST')
    throw new UsageError(`${folder} exists already: name another folder, or remove it first.`);
  if (code === 'ENOENT')
    throw new UsageError(`${folder} cannot be made: the folder above it does not exist.`);
  throw new UsageError(`${folder} cannot be made: ${errorText(error)}`);
}

export const qrFormats = ['svg', 'png'] as const;
export type QrFormat = (typeof qrFormats)[number];

// Blur makes a small code unreadable. At 12 mm, level L has the largest modules: 0.27 mm for a link of up to 106
// characters. It still reads with a fifteenth of the code hidden. ISO/IEC 18004 wants the border of 4 modules.
const options = { ecc: 'low', border: 4 } as const;

// Modules of a code of 12 mm for a text of up to 106 characters. Smaller modules are not always read in one picture of
// 300 dpi.
const [smallestMm, smallestModuleMm] = [12, 12 / 45];

/** Returns the width in millimetres, border included, from which on a printed code of the text scans. */
const printableMm = (text: string): number =>
  Math.max(smallestMm, Math.ceil(encodeQr(text, 'raw', options).length * smallestModuleMm));

// A code is dark on light, whatever is behind the picture.
const paper = '<rect width="100%" height="100%" fill="#fff"/>';

/** A QR code as SVG, which scales to any size. */
const svgOf = (text: string): string =>
  encodeQr(text, 'svg', options).replace(/^<svg [^>]*>/, (head) => `${head}${paper}`);

// Some 2 cm at 600 dots an inch, for the codes of claim links.
const pixelsOfModule = 8;

/** A QR code as PNG in black and white, 8 pixels for each module. */
function pngOf(text: string): Uint8Array {
  const modules = encodeQr(text, 'raw', options);
  const size = modules.length * pixelsOfModule;
  const data = new Uint8Array(size * size);
  for (const [index] of data.entries()) {
    const isDark =
      modules[Math.floor(index / size / pixelsOfModule)]?.[Math.floor((index % size) / pixelsOfModule)];
    data[index] = isDark ? 0 : 255;
  }
  return encode({ width: size, height: size, data, channels: 1, depth: 8 });
}
