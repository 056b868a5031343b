import { globSync, readFileSync } from 'node:fs';
import { settings } from '../src/config/config.ts';

/*
 * Prints how large the project is, in six figures. A commit that raises one says what for.
 */

const isWritten = (name: string) =>
  !/\/generated\/|node_modules|^test\/(sdk|fixtures)\//.test(name) && !name.endsWith('package-lock.json');

/** Lines of the code that people write in some folder. */
const linesIn = (folder: string) =>
  globSync(`${folder}/**/*.{ts,js,cjs}`)
    .filter(isWritten)
    .reduce((sum, name) => sum + readFileSync(name, 'utf8').split('\n').length - 1, 0);

const [, metricsTable = ''] = readFileSync('docs/operate/metrics.md', 'utf8').split(/<!-- \/?metrics.*-->/);

const figures = {
  'lines of src': linesIn('src'),
  'lines of tests': linesIn('test'),
  'lines of scripts': linesIn('scripts'),
  migrations: globSync('migrations/*.ts').length,
  settings: Object.keys(settings).length,
  metrics: metricsTable.split('\n').filter((line) => line.startsWith('| `tallystick_')).length,
};

process.stdout.write(
  `${Object.entries(figures)
    .map(([name, figure]) => `${name} ${figure.toLocaleString('en')}`)
    .join(', ')}\n`,
);
