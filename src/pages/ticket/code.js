/* A QR code as a picture that scales to any size. */

const svg = 'http://www.w3.org/2000/svg';
// The largest modules for a text. Its border of 4 modules is what ISO/IEC 18004 wants.
const options = { ecc: 'low', border: 4 };

/** @param encodeQr of the package `qr` */
export function createCode(ticket, encodeQr) {
  const rows = encodeQr(ticket, 'raw', options);
  const picture = document.createElementNS(svg, 'svg');
  picture.setAttribute('viewBox', `0 0 ${rows.length} ${rows.length}`);
  picture.setAttribute('shape-rendering', 'crispEdges');
  const path = document.createElementNS(svg, 'path');
  const modules = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')));
  path.setAttribute('d', modules.join(''));
  picture.append(path);
  return picture;
}
