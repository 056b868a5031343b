import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, errorText } from '../../base/thrown.ts';
import type { ExportRow } from '../../rwa/operators/rwa-export-store.ts';
import { UsageError } from '../shared/failure.ts';
import { pngOf, printableMm, type QrFormat, svgOf } from './qr-code.ts';

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
 * Makes a folder with a file for each code, `000001.svg`, and sheets to print, `sheet-001.html`; completely, or not at all.
 * Only its maker can read it.
 * @returns how many codes there are, and from which width in millimetres on all of them scan
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
