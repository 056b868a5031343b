import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';

// ZXing is what many phones read codes with; its file is given, since it would be loaded over the network else.
const file = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'));
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(await readFile(file)).buffer } });

/** Reads the code in a square picture. @param gray 0 is black, 255 white @returns undefined where none is found */
export async function readCode(width: number, gray: (index: number) => number): Promise<string | undefined> {
  const data = Uint8ClampedArray.from({ length: width * width * 4 }, (_, index) =>
    index % 4 === 3 ? 255 : gray(Math.floor(index / 4)),
  );
  const picture = { width, height: width, data, colorSpace: 'srgb' } as const;
  const [found] = await readBarcodes(picture, { formats: ['QRCode'] });
  return found?.text;
}

/** Reads the code in a PNG, such as a screenshot. @returns undefined where none is found */
export async function readPng(png: Uint8Array): Promise<string | undefined> {
  const [found] = await readBarcodes(png, { formats: ['QRCode'] });
  return found?.text;
}

/** Reads the code that an SVG draws: each of its dark modules is a square of its path. */
export function readSvg(svg: string): Promise<string | undefined> {
  const [, width = ''] = /viewBox="0 0 (\d+)/.exec(svg) ?? [];
  const [, drawn = ''] = / d="([^"]+)"/.exec(svg) ?? [];
  const size = Number(width);
  const dark = new Set<number>();
  let [x, y] = [0, 0];
  for (const [, command, first, second] of drawn.matchAll(/([Mm])(-?\d+)[ ,]?(-?\d+)h1v1[Hh]-?\d+Z?/g)) {
    x = command === 'M' ? Number(first) : x + Number(first);
    y = command === 'M' ? Number(second) : y + Number(second);
    dark.add(y * size + x);
  }
  const dots = size * dotsOfModule;
  const moduleAt = (index: number) =>
    Math.floor(index / dots / dotsOfModule) * size + Math.floor((index % dots) / dotsOfModule);
  return readCode(dots, (index) => (dark.has(moduleAt(index)) ? 0 : 255));
}

const dotsOfModule = 4;
