import { encode } from 'fast-png';
import encodeQr from 'qr';

export const qrFormats = ['svg', 'png'] as const;
export type QrFormat = (typeof qrFormats)[number];

// Blur makes a small code unreadable. At 12 mm, level L has the largest modules: 0.27 mm for a link of up to 106
// characters. It still reads with a fifteenth of the code hidden. The border of 4 modules is that of ISO/IEC 18004.
const options = { ecc: 'low', border: 4 } as const;

// Modules of a code of 12 mm for a text of up to 106 characters. Smaller ones are not always read in one picture of 300 dpi.
const [smallestMm, smallestModuleMm] = [12, 12 / 45];

/** Returns the width in millimetres, border included, from which on a printed code of the text scans. */
export const printableMm = (text: string): number =>
  Math.max(smallestMm, Math.ceil(encodeQr(text, 'raw', options).length * smallestModuleMm));

// A code is dark on light, whatever is behind the picture.
const paper = '<rect width="100%" height="100%" fill="#fff"/>';

/** A QR code as SVG, which scales to any size. */
export const svgOf = (text: string): string =>
  encodeQr(text, 'svg', options).replace(/^<svg [^>]*>/, (head) => `${head}${paper}`);

// Some 2 cm at 600 dots an inch, for the codes of claim links.
const pixelsOfModule = 8;

/** A QR code as PNG in black and white, 8 pixels for each module. */
export function pngOf(text: string): Uint8Array {
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
