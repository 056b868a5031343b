import { type Command, InvalidArgumentError } from 'commander';
import { problem } from '../base/errors.ts';
import { listDeliveries, resendDelivery } from '../news/endpoints/delivery-store.ts';
import type { Endpoint } from '../news/endpoints/endpoint.ts';
import {
  changeEndpoint,
  createEndpoint,
  readUrl,
  rotateSecret,
} from '../news/endpoints/endpoint-operations.ts';
import { createEndpointSecrets } from '../news/endpoints/endpoint-secret.ts';
import {
  deleteEndpoint,
  findAnyEndpoint,
  insertTestNews,
  listEndpoints,
} from '../news/endpoints/endpoint-store.ts';
import { deliveryToApi, endpointToApi } from '../news/endpoints/endpoint-to-api.ts';
import { shortUrl } from '../news/endpoints/endpoint-url.ts';
import { isNewsType, type NewsType, newsTypes } from '../news/feed/news.ts';
import { audited } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { findCompany } from './shared/find.ts';
import { asOperator, type Operator, type Session } from './shared/session.ts';
import { isUuid, wholeNumber } from './shared/values.ts';

const endpointColumns = {
  id: 'ID',
  url: 'URL',
  types: 'TYPES',
  enabled: 'ENABLED',
  failingSince: 'FAILING SINCE',
};
const deliveryColumns = {
  sequence: 'SEQUENCE',
  type: 'TYPE',
  state: 'STATE',
  attempts: 'TRIES',
  status: 'STATUS',
  error: 'ERROR',
  attemptedAt: 'TRIED',
  nextAttemptAt: 'NEXT',
};
const someId = '5b1c1f0e-2f0a-4e0e-8f55-1f6a3e9c7d21';

export function addNewsCommands(program: Command, session: Session): void {
  const news = program.command('news').description('Manage the endpoints that news are sent to');
  addCreateCommand(news, session);
  addReadCommands(news, session);
  addChangeCommands(news, session);
  addSendCommands(news, session);
}

type CreateOptions = { company: string; types?: NewsType[] };

function addCreateCommand(news: Command, session: Session): void {
  const create = news
    .command('create <url>')
    .description('Create an endpoint of a company, and print the secret that signs. It cannot be shown again')
    .requiredOption('--company <company>', 'id or name of the company')
    .option('--types <types>', 'the types of news that it gets, separated by commas; all by default', types)
    .action((url: string, options: CreateOptions) =>
      asOperator(session, async (operator) => {
        const { db, output } = operator;
        const { id: companyId } = await findCompany({ db }, options.company);
        const used = readUrl(url, operator.config.WEBHOOK_HOSTS ?? []);
        const made = await audited(
          db,
          (tx) =>
            createEndpoint(tx, keeperOf(operator), { companyId, url: used, types: options.types ?? null }),
          ({ endpoint }) => entry('endpoint.create', endpoint, { url: shortUrl(used) }),
        );
        output.record({ ...shown(made.endpoint), secret: made.secret });
        output.say('Keep the secret now: it is stored sealed.');
      }),
    );
  examples(create, 'news create https://partner.example/news --company acme --types nft.minted,nft.reverted');
}

function addReadCommands(news: Command, session: Session): void {
  news
    .command('list')
    .description('List the endpoints of a company, oldest first')
    .requiredOption('--company <company>', 'id or name of the company')
    .action(({ company }: { company: string }) =>
      asOperator(session, async ({ db, output }) => {
        const { id } = await findCompany({ db }, company);
        output.rows((await listEndpoints(db, id)).map(shown), endpointColumns);
      }),
    );

  news
    .command('deliveries <endpointId>')
    .description('List what was sent to an endpoint, newest first, with the first kilobyte of each answer')
    .option('--before <sequence>', 'only deliveries before this one', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--limit <count>', 'list at most so many', wholeNumber(1, 10_000), 100)
    .action((id: string, { before, limit }: { before?: number; limit: number }) =>
      asOperator(session, async (operator) => {
        const endpoint = await requireEndpoint(operator, id);
        const page = { before: before === undefined ? undefined : String(before), limit };
        const found = await listDeliveries(operator.db, endpoint.id, page);
        operator.output.rows(found.map(deliveryToApi), deliveryColumns);
      }),
    );
}

type UpdateOptions = { url?: string; types?: NewsType[]; allTypes?: true; enable?: true; disable?: true };

function addChangeCommands(news: Command, session: Session): void {
  const update = news
    .command('update <endpointId>')
    .description('Change an endpoint. One that is enabled again gets what it missed')
    .option('--url <url>', 'its address')
    .option('--types <types>', 'the types of news that it gets, separated by commas', types)
    .option('--all-types', 'it gets all types')
    .option('--enable', 'send to it')
    .option('--disable', 'do not send to it')
    .action((id: string, options: UpdateOptions) =>
      asOperator(session, async (operator) => {
        const { db, config, output } = operator;
        const endpoint = await requireEndpoint(operator, id);
        if (options.enable === true && options.disable === true)
          throw new UsageError('Give either --enable or --disable.');
        const url = options.url === undefined ? undefined : readUrl(options.url, config.WEBHOOK_HOSTS ?? []);
        const enabled = options.enable ?? (options.disable === true ? false : undefined);
        const wanted = { url, types: options.allTypes === true ? null : options.types, enabled };
        const changed = await audited(
          db,
          (tx) => changeEndpoint(tx, keeperOf(operator), endpoint, wanted),
          (done) => entry('endpoint.update', done, { fields: Object.keys(options) }),
        );
        output.record(shown(changed));
      }),
    );
  examples(update, `news update ${someId} --enable`);

  news
    .command('delete <endpointId>')
    .description('Delete an endpoint, and what is known of its deliveries')
    .action((id: string) =>
      asOperator(session, async (operator) => {
        const endpoint = await requireEndpoint(operator, id);
        await audited(
          operator.db,
          (tx) => deleteEndpoint(tx, endpoint.companyId, id),
          (isDeleted) => (isDeleted ? entry('endpoint.delete', endpoint) : undefined),
        );
        operator.output.record({ deleted: id });
      }),
    );

  news
    .command('rotate-secret <endpointId>')
    .description('Give an endpoint a new secret and print it. For a while both sign')
    .option('--overlap-hours <hours>', 'how long the old secret signs, too', wholeNumber(0, 168), 24)
    .action((id: string, { overlapHours }: { overlapHours: number }) =>
      asOperator(session, async (operator) => {
        const endpoint = await requireEndpoint(operator, id);
        const rotated = await audited(
          operator.db,
          (tx) => rotateSecret(tx, secretsOf(operator), { ...endpoint, overlapHours }),
          () => entry('endpoint.rotate', endpoint),
        );
        operator.output.record(rotated);
      }),
    );
}

function addSendCommands(news: Command, session: Session): void {
  news
    .command('test <endpointId>')
    .description('Send a test message to an endpoint')
    .action((id: string) =>
      asOperator(session, async (operator) => {
        const endpoint = await requireEndpoint(operator, id);
        const newsId = await audited(
          operator.db,
          (tx) => insertTestNews(tx, endpoint),
          () => entry('endpoint.test', endpoint),
        );
        operator.output.record({ id: newsId });
      }),
    );

  news
    .command('resend <endpointId> <sequence>')
    .description('Send news to an endpoint again, by their number')
    .action((id: string, sequence: string) =>
      asOperator(session, async (operator) => {
        const endpoint = await requireEndpoint(operator, id);
        const position = wholeNumber(1, Number.MAX_SAFE_INTEGER)(sequence);
        const delivery = await audited(
          operator.db,
          (tx) => resendDelivery(tx, id, position),
          (found) => found && entry('endpoint.resend', endpoint, { sequence: position }),
        );
        if (delivery === undefined) throw problem('delivery_not_found');
        operator.output.record(deliveryToApi(delivery));
      }),
    );
}

function types(text: string): NewsType[] {
  const found = text.split(',').map((item) => item.trim());
  if (found.every(isNewsType)) return found;
  throw new InvalidArgumentError(`It must be types of news: ${newsTypes.join(', ')}.`);
}

const entry = (
  action: string,
  { id, companyId }: Endpoint,
  details: Readonly<Record<string, unknown>> = {},
) => ({
  action,
  companyId,
  subject: id,
  details,
});

async function requireEndpoint({ db }: Operator, id: string): Promise<Endpoint> {
  const found = isUuid(id) ? await findAnyEndpoint(db, id) : undefined;
  if (found === undefined) {
    throw new UsageError(
      `There is no endpoint ${id}. List them with: tallystick news list --company <company>`,
    );
  }
  return found;
}

/** An endpoint as operators see it: its host, and not the path, which may have a secret of the company. */
const shown = (endpoint: Endpoint) => endpointToApi(endpoint, shortUrl(endpoint.address));

const keeperOf = (operator: Operator) => ({
  secrets: secretsOf(operator),
  allowedHosts: operator.config.WEBHOOK_HOSTS ?? [],
});

function secretsOf({ config }: Operator) {
  if (config.SECRET_KEYS === undefined) {
    throw new UsageError('SECRET_KEYS is not set: secrets of endpoints are sealed with them.');
  }
  return createEndpointSecrets(config.SECRET_KEYS);
}
