import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (file: string) => readFileSync(file, 'utf8');
const guide = read('docs/operate/deploy.md');
const [, kubernetes = ''] = guide.split('\n## Kubernetes\n');

test.each([
  ['the notes of the chart', read('deploy/chart/templates/NOTES.txt')],
  ['the guide', kubernetes.split('\n## ')[0] ?? ''],
])('%s run commands of operators in a pod of their own, never in that of a role', (_name, text) => {
  expect(text).not.toMatch(/kubectl exec [^\n]*cli\.ts/);
  expect(text).toMatch(
    /kubectl run [^\n]+-operator [\s\S]*configmap [^\n]+-operator [\s\S]*-- src\/cli\.ts "\$@"/,
  );
});

test('this pod has the address of the database for operators, which the guide has in the secret', () => {
  expect(kubernetes).toContain('--from-literal=operator-url=…');
  expect(read('deploy/chart/templates/operator.yaml')).toMatch(/"user" "operator"/);
});
