import { escapeHtml } from './markup.ts';

const columns = 96;
const lineHeight = 19;
const columnWidth = 7.85;
const [left, top] = [20, 58];

/** Replaces the parts of the output of `npm start` that differ from run to run: keys and ports. */
export const withoutChance = (output: string): string =>
  output.replaceAll(/tk_local_\w+/g, 'tk_local_…').replaceAll(/(localhost|127\.0\.0\.1):\d+/g, '$1:…');

/** A line as a terminal breaks it. */
const rowsOf = (line: string): string[] =>
  line.length <= columns ? [line] : [line.slice(0, columns), ...rowsOf(line.slice(columns))];

/** Draws a terminal with a command and its output as SVG. Keys are shortened. */
export function drawTerminal(command: string, output: string): string {
  const lines = [
    `$ ${command}`,
    ...output
      .replaceAll(/tk_local_\w+/g, 'tk_local_…')
      .trimEnd()
      .split('\n'),
  ];
  let row = 0;
  const texts = lines.map((line, index) => {
    const rows = rowsOf(line).map((part) => {
      row += 1;
      return `<tspan x="${left}" y="${top + (row - 1) * lineHeight}">${escapeHtml(part)}</tspan>`;
    });
    return `<text xml:space="preserve"${index === 0 ? ' class="command"' : ''}>${rows.join('')}</text>`;
  });
  const [width, height] = [Math.ceil(columns * columnWidth) + 2 * left, top + row * lineHeight];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">What ${escapeHtml(command)} prints</title>
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d5d3cf; white-space: pre; }
.command { fill: #e6a860; font-weight: 600; }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#16191e"/>
<g fill="#4a515c"><circle cx="22" cy="20" r="6"/><circle cx="42" cy="20" r="6"/><circle cx="62" cy="20" r="6"/></g>
${texts.join('\n')}
</svg>
`;
}

/** The lines of a drawn terminal, the command first. */
export const drawnLines = (svg: string): string[] =>
  [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line = '']) =>
    line
      .replaceAll(/<\/?tspan[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&'),
  );
