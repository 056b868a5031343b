import { keepCompiled } from './entry/compile-cache.ts';

keepCompiled();
await import('./entry/start.ts');
