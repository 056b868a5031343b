import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fill, fillComments, prose } from '../../scripts/docs/markup.ts';
import { readProblemTexts } from '../../scripts/docs/problem-texts.ts';

const problems = join(import.meta.dirname, '../../openapi/portal/problems.yaml');

describe('the texts of the portal', () => {
  it('have exactly one for each problem code', async () => {
    const yaml = await readFile(problems, 'utf8');
    expect(() => readProblemTexts(yaml.replace('\nevent_full:', '\nevent_overflowing:'))).toThrow(
      'Texts for unknown problem codes: event_overflowing',
    );
    expect(() => readProblemTexts(yaml.replace(/\nevent_full:\n( .*\n)+/, '\n'))).toThrow(
      'Problem codes without a text: event_full',
    );
  });

  it('fit their template: no name without a value, no value without a place', () => {
    expect(fill('{{a}}-{{a}}', { a: '1' })).toBe('1-1');
    expect(() => fill('{{a}}', {})).toThrow('{{a}}');
    expect(() => fill('', { a: '1' })).toThrow('no place for a');
    expect(() => fillComments('<!--portal:head-->', { header: '' })).toThrow('no place for header');
  });

  it('become paragraphs with code and links, and never markup of their own', () => {
    expect(prose('See `a<b`\nand [there](x.html).\n\nDone.', '../')).toBe(
      '<p>See <code>a&lt;b</code> and <a href="../x.html">there</a>.</p>\n<p>Done.</p>',
    );
  });
});
