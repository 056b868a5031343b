import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createNotifications } from '../../src/db/connection/notifications.ts';
import { createVerifier } from '../../src/keys/create-verifier.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';

// A process of its own with a verifier of its own, as in production. Its parent asks it to verify a key over
// and over until the answer is the wanted one; it answers with the time.
const config = loadConfig();
const log = createLogger({ level: 'silent' });
const db = createDatabase(config.DATABASE_URL, { poolMax: 2, log });
const verifier = await createVerifier(config, {
  db,
  outgoing: createOutgoing({ log }),
  notifications: createNotifications({ url: config.DATABASE_URL, log }),
});

export type Question = { readonly key: string; readonly ok: boolean };
export type Reply = { readonly at: number; readonly tries: number };

async function watch({ key, ok }: Question): Promise<Reply> {
  for (let tries = 1; ; tries += 1) {
    const result = await verifier.verify(key);
    if (result.ok === ok) return { at: Date.now(), tries };
    await new Promise((next) => setTimeout(next, 10));
  }
}

// The parent is test/keys/revocation.test.ts, which sends nothing but questions.
process.on('message', async (question) => process.send?.(await watch(question as Question)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
