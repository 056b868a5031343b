import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';

/** A QR code as squares, row by row, with its border. */
export type Modules = { readonly width: number; readonly isDark: (x: number, y: number) => boolean };

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

/** The modules that the SVG of a code draws: each dark one is a square of its path. */
export function modulesOf(svg: string): Modules {
  const [, width = ''] = /viewBox="0 0 (\d+)/.exec(svg) ?? [];
  const [, drawn = ''] = / d="([^"]+)"/.exec(svg) ?? [];
  const size = Number(width);
  const places = new Set<number>();
  let [x, y] = [0, 0];
  for (const [, command, first, second] of drawn.matchAll(/([Mm])(-?\d+)[ ,]?(-?\d+)h1v1[Hh]-?\d+Z?/g)) {
    x = command === 'M' ? Number(first) : x + Number(first);
    y = command === 'M' ? Number(second) : y + Number(second);
    places.add(y * size + x);
  }
  return { width: size, isDark: (column, row) => places.has(row * size + column) };
}

type Print = {
  /** Width of the code with its border. */
  readonly mm: number;
  readonly dotsPerInch: number;
  readonly degrees: number;
  /** Standard deviation of the blur, in dots. */
  readonly blur: number;
};

const finer = 4;

/** Reads a code as a scanner sees it printed: so many dots in all, turned and out of focus. */
export async function readPrinted({ width, isDark }: Modules, print: Print): Promise<string | undefined> {
  const dots = (print.mm / 25.4) * print.dotsPerInch;
  // The paper around it is white.
  const size = Math.ceil(dots * 1.5);
  const angle = (print.degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const sharp = Float64Array.from({ length: size * size }, (_, index) => {
    let dark = 0;
    for (let part = 0; part < finer * finer; part += 1) {
      const x = (index % size) + ((part % finer) + 0.5) / finer - size / 2;
      const y = Math.floor(index / size) + (Math.floor(part / finer) + 0.5) / finer - size / 2;
      const column = Math.floor(((cos * x + sin * y) / dots + 0.5) * width);
      const row = Math.floor(((cos * y - sin * x) / dots + 0.5) * width);
      const isInside = column >= 0 && row >= 0 && column < width && row < width;
      if (isInside && isDark(column, row)) dark += 1;
    }
    return 255 - (255 * dark) / finer ** 2;
  });
  const seen = blurred(blurred(sharp, size, print.blur, 1), size, print.blur, size);
  return readCode(size, (index) => seen[index] ?? 255);
}

/** One direction of a Gaussian blur. @param step 1 along rows, the width along columns */
function blurred(gray: Float64Array, size: number, deviation: number, step: number): Float64Array {
  if (deviation === 0) return gray;
  const reach = Math.ceil(deviation * 3);
  const weights = Array.from({ length: 2 * reach + 1 }, (_, place) =>
    Math.exp(-((place - reach) ** 2) / (2 * deviation ** 2)),
  );
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return gray.map((_, index) => {
    const place = step === 1 ? index % size : Math.floor(index / size);
    return (
      weights.reduce((sum, weight, offset) => {
        const other = Math.min(size - 1, Math.max(0, place + offset - reach));
        return sum + weight * (gray[index + (other - place) * step] ?? 255);
      }, 0) / whole
    );
  });
}
