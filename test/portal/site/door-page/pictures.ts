import { writeFile } from 'node:fs/promises';
import encodeQr from 'qr';

const [width, height] = [640, 480];

/** A picture of a code, as the bytes of its brightness. An empty text gives a white picture. */
function brightnessOf(text: string): Buffer {
  const picture = Buffer.alloc(width * height, 235);
  if (text === '') return picture;
  const modules = encodeQr(text, 'raw', { ecc: 'low', border: 4 });
  const size = Math.floor(height / modules.length);
  const left = Math.floor((width - size * modules.length) / 2);
  const top = Math.floor((height - size * modules.length) / 2);
  for (const [y, row] of modules.entries()) {
    for (const [x, isDark] of row.entries()) {
      if (!isDark) continue;
      for (let line = 0; line < size; line += 1) {
        const start = (top + y * size + line) * width + left + x * size;
        picture.fill(16, start, start + size);
      }
    }
  }
  return picture;
}

/** Writes a video in which a camera sees codes, each for a second. Chromium plays it again and again. */
export async function writeVideo(file: string, texts: readonly string[]): Promise<void> {
  const color = Buffer.alloc((width * height) / 2, 128);
  const frames = texts.flatMap((text) => {
    const frame = [Buffer.from('FRAME\n'), brightnessOf(text), color];
    return Array(10).fill(frame).flat();
  });
  await writeFile(
    file,
    Buffer.concat([Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420\n`), ...frames]),
  );
}

/** A script that gives a page a camera, in front of which `window.hold(modules)` holds a code. */
export const cameraScript = `
  const canvas = document.createElement('canvas');
  canvas.width = ${width};
  canvas.height = ${height};
  const context = canvas.getContext('2d');
  window.hold = (modules) => {
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = '#000';
    const size = Math.floor(canvas.height / modules.length);
    modules.forEach((row, y) => row.forEach((isDark, x) => isDark && context.fillRect(80 + x * size, y * size, size, size)));
  };
  window.hold([]);
  // A camera has new pictures all the time.
  setInterval(() => context.fillRect(0, 0, 1, 1), 50);
  navigator.mediaDevices.getUserMedia = async () => canvas.captureStream(20);`;

/** The modules of a code, for \`window.hold\`. */
export const modulesOf = (text: string): boolean[][] => encodeQr(text, 'raw', { ecc: 'low', border: 4 });
