import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
const guide = readFileSync('docs/operate/deploy.md', 'utf8');

test('every base image can be pinned by a digest, and the guide says how, and how the digest stays current', () => {
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  const settings = [...dockerfile.matchAll(/^ARG (\w+_IMAGE)=/gm)].map(([, name = '']) => name);
  expect(images).toEqual(settings.map((name) => `\${${name}}`));
  const [, command = ''] = /^docker build -f deploy\/Dockerfile((?:.*\\\n)+.*)$/m.exec(guide) ?? [];
  const pinned = [...command.matchAll(/--build-arg (\w+)=\S+@sha256:/g)].map(([, name]) => name);
  expect(pinned).toEqual(settings);
  expect(guide).toMatch(/read the digests again each week/);
});
