/** Rejects. A migration exports it as its `down`: what a migration has changed, only a backup brings back. */
export async function down(): Promise<never> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
