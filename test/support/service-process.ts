import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startService } from '../../src/service/service.ts';

// A process of the service as `src/main.ts` starts it, with other fixed values: its only argument has them.

const config = loadConfig(process.env, JSON.parse(process.argv[2] ?? '{}'));
const service = await startService(config, createLogger({ level: config.LOG_LEVEL }));
process.once('SIGTERM', () => void service.stop());
