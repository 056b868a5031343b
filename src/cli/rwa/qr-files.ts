import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExportRow } from '../../rwa/operators/rwa-export-store.ts';
import { UsageError } from '../shared/failure.ts';
import { pngOf, type QrFormat, svgOf } from './qr-code.ts';

type QrOptions = {
  /** A folder that does not exist yet. */
  readonly folder: string;
  readonly format: QrFormat;
  /** Stands below each code of a sheet. */
  readonly assetName: string;
  readonly signal: AbortSignal;
};

// A browser prints so many pages at once without trouble: 42 of A4.
const codesOnSheet = 1_000;

/**
 * Makes a folder with a file for each code, `000001.svg`, and sheets to print, `sheet-001.html`; completely, or not at all.
 * Only its maker can read it.
 * @returns how many codes there are
 * @throws UsageError when the folder exists or cannot be made
 */
export async function writeQrFolder(
  rows: AsyncIterable<ExportRow>,
  { folder, format, assetName, signal }: QrOptions,
): Promise<number> {
  await mkdir(folder, { mode: 0o700 }).catch((error) => explainFolder(folder, error));
  try {
    let count = 0;
    for await (const { serial, url } of rows) {
      signal.throwIfAborted();
      const content = format === 'svg' ? svgOf(url) : pngOf(url);
      await writeFile(path.join(folder, `${serial}.${format}`), content, { mode: 0o600, flag: 'wx' });
      await addToSheet(folder, count, { serial, url, assetName });
      count += 1;
    }
    await endSheet(folder, count);
    return count;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

type Code = { readonly serial: string; readonly url: string; readonly assetName: string };

const sheetOf = (folder: string, index: number) =>
  path.join(folder, `sheet-${String(Math.floor(index / codesOnSheet) + 1).padStart(3, '0')}.html`);

async function addToSheet(folder: string, index: number, { serial, url, assetName }: Code): Promise<void> {
  const isFirst = index % codesOnSheet === 0;
  if (isFirst) await endSheet(folder, index);
  const name = escapeHtml(assetName);
  const code = `<figure>${svgOf(url)}<figcaption>${name}<br><b>${serial}</b></figcaption></figure>\n`;
  await append(sheetOf(folder, index), isFirst ? sheetHead(name) + code : code);
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

// 24 codes on a page of A4 or Letter, each 38 mm wide with its border.
const sheetHead = (name: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${name}: claim codes</title>
<style>
@page { margin: 12mm }
body { margin: 0; background: #fff; color: #000; font: 8pt/1.3 system-ui, sans-serif }
main { display: grid; grid-template-columns: repeat(4, 1fr); gap: 2mm }
figure { margin: 0; padding: 0 0 1mm; text-align: center; break-inside: avoid; overflow-wrap: anywhere }
svg { width: 34mm; height: 34mm }
figcaption { max-height: 8mm; overflow: hidden }
</style></head><body><main>
`;

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function explainFolder(folder: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EEXIST')
    throw new UsageError(`${folder} exists already: name another folder, or remove it first.`);
  if (code === 'ENOENT')
    throw new UsageError(`${folder} cannot be made: the folder above it does not exist.`);
  const reason = error instanceof Error ? error.message : String(error);
  throw new UsageError(`${folder} cannot be made: ${reason}`);
}
