import { keepCompiled } from './compile-cache.ts';

keepCompiled();
await import('./command-line.ts');
