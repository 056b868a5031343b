/* Reads QR codes: by the browser where it can, else by the package `qr`, which is loaded only then. */

// Larger pictures show no more of a ticket, and take an old phone too long.
const longestSide = 1_024;

/** @returns a function of a video, which returns the text of a code or undefined. @throws Error where nothing reads codes */
export async function createDetector(
  loadDecoder = () => import(new URL('../qr/decode.js', import.meta.url).href),
) {
  let native = await nativeDetector();
  if (native === undefined) return packagedDetector(await loadDecoder());
  let packaged;
  return async (video) => {
    try {
      if (native !== undefined) return textOf(await native.detect(video));
    } catch {
      // Some phones have the interface and lack the service behind it.
      native = undefined;
      packaged = packagedDetector(await loadDecoder());
    }
    return packaged(video);
  };
}

async function nativeDetector() {
  try {
    const formats = await window.BarcodeDetector.getSupportedFormats();
    return formats.includes('qr_code') ? new window.BarcodeDetector({ formats: ['qr_code'] }) : undefined;
  } catch {
    return undefined;
  }
}

const textOf = ([first]) => (first === undefined || first.rawValue === '' ? undefined : first.rawValue);

function packagedDetector({ decodeQR }) {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return (video) => {
    const scale = Math.min(1, longestSide / Math.max(video.videoWidth, video.videoHeight));
    canvas.width = Math.round(video.videoWidth * scale);
    canvas.height = Math.round(video.videoHeight * scale);
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    try {
      return decodeQR(context.getImageData(0, 0, canvas.width, canvas.height)) || undefined;
    } catch {
      // There is no code in the picture.
      return undefined;
    }
  };
}
