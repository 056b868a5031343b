import packageFile from '../../../package.json' with { type: 'json' };

/**
 * Which releases may run on the schema of this release. A migration that takes away what an older release uses moves
 * `needs` to the migration since which nothing uses it any more. The last release before this release always may. Tests
 * and rehearsals run the oldest such release.
 */
export const schemaRange = {
  /** This release. */
  migratedBy: packageFile.version,
  /** The migration that a release must know to run on this schema. */
  needs: '0015_refresh_rest.ts',
  /** The first release that knows it. */
  oldestRelease: '0.1.0',
} as const;

/** As it is stored in a database, by the release that migrated it last. */
export type SchemaRange = { readonly [name in keyof typeof schemaRange]: string };
