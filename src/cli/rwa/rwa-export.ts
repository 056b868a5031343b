import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { csvLine } from '../../base/csv.ts';
import { errorCode, errorText } from '../../base/thrown.ts';
import type { MintState } from '../../rwa/assets/nft-row.ts';
import { type ExportRow, exportRows } from '../../rwa/operators/rwa-export-store.ts';
import { recordByOperator } from '../shared/audited.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import { findCompany, vaultOf } from '../shared/find.ts';
import type { Output } from '../shared/output.ts';
import { asOperator, interruptible, type Session } from '../shared/session.ts';
import { leadsToOwnPage, words } from '../shared/values.ts';
import { type Caption, type QrFormat, qrFormats, writeQrFolder } from './qr-files.ts';
import { findRwaRecord } from './rwa-record.ts';

const statuses = ['unclaimed', 'queued', 'submitted', 'minted', 'failed'] as const satisfies MintState[];

type ExportOptions = {
  readonly out?: string;
  readonly qr?: string;
  readonly format: QrFormat;
  readonly text?: string;
  readonly claimStatus?: MintState | 'all';
};

export function addExportCommand(rwa: Command, session: Session): void {
  const command = rwa
    .command('export <id>')
    .description(
      'Write serials and claim URLs as CSV, or as QR codes. They contain the claim secrets: keep them safe',
    )
    .addOption(new Option('--out <file>', 'new file to write; standard output by default').conflicts('qr'))
    .option('--qr <folder>', 'new folder for a QR code of each NFT and sheets to print, instead of CSV')
    .addOption(
      new Option('--format <format>', 'format of the files with one code').choices(qrFormats).default('svg'),
    )
    // Two lines of a column of the sheet.
    .option(
      '--text <line>',
      'with --qr: a line of at most 60 characters below each code of a sheet',
      words(60),
    )
    .addOption(
      new Option(
        '--claim-status <status>',
        'only NFTs of this status; with --qr unclaimed by default, otherwise all',
      ).choices([...statuses, 'all']),
    )
    .action((id: string, options: ExportOptions) => {
      if (options.text !== undefined && options.qr === undefined) {
        throw new UsageError('--text is a line of the sheets of codes: it needs --qr.');
      }
      return asOperator(session, async (operator) => {
        const { db, config, output } = operator;
        const found = await findRwaRecord(db, id);
        // The entry is written before any secret is shown: a person who interrupts the export has seen some.
        const { id: rwaId, companyId } = found;
        const { claimStatus: wanted = options.qr === undefined ? 'all' : 'unclaimed' } = options;
        await recordByOperator(db, {
          action: 'rwa.export',
          companyId,
          subject: rwaId,
          details: { out: options.out ?? options.qr ?? null, claimStatus: wanted },
        });
        const damaged: Damaged[] = [];
        const claimStatus = wanted === 'all' ? undefined : wanted;
        const source = { rwa: found, claimBaseUrl: config.claimBaseUrl, claimStatus };
        const rows = exportRows(db, vaultOf(operator), { ...source, onDamaged: (nft) => damaged.push(nft) });
        const { displayName, name } = await findCompany({ db }, companyId);
        const caption = { company: displayName ?? name, asset: found.name, text: options.text };
        await write(rows, { ...options, claimStatus: wanted, rwaId, caption, output, session });
        if (!found.claimPage && found.claimBaseUrl === null && leadsToOwnPage(config)) {
          output.say(
            'The claim page is off for this RWA, so nobody can claim by these codes yet. Switch it on:',
          );
          output.say(`tallystick rwa claim-page ${rwaId} on`);
        }
        if (damaged.length === 0) return;
        output.say(`Left out, since their secrets are damaged: ${damaged.map(nameOf).join(', ')}.`);
        output.say('New secrets: tallystick rwa reissue-secret <nftId>');
        session.fail();
      });
    });
  examples(
    command,
    'rwa export 5f0c8f3e-6d5b-4c56-9a3f-8c1f6f1f2a10 --out cask-17.csv',
    'rwa export 5f0c8f3e-6d5b-4c56-9a3f-8c1f6f1f2a10 --json | jq -r .[].url',
    'rwa export 5f0c8f3e-6d5b-4c56-9a3f-8c1f6f1f2a10 --qr cask-17-codes --text "Scan to claim your certificate"',
  );
}

type Damaged = Pick<ExportRow, 'serial' | 'nftId'>;
const nameOf = ({ serial, nftId }: Damaged) => `${serial} (${nftId})`;

type Target = Omit<ExportOptions, 'text'> & {
  readonly rwaId: string;
  readonly caption: Caption;
  readonly output: Output;
  readonly session: Session;
};

/** Writes them to standard output, to a file, or as codes to a folder, and says which. */
async function write(rows: AsyncIterable<ExportRow>, target: Target): Promise<void> {
  const { out, qr, rwaId, output, session } = target;
  if (qr !== undefined) return writeCodes(rows, { ...target, qr });
  if (out === undefined) return output.stream(output.json ? jsonList(rows) : csvLines(rows));
  const counted = { nfts: 0 };
  await interruptible(session, `${out} was not made.`, (signal) =>
    writeNew(out, csvLines(counting(rows, counted)), signal),
  );
  output.record({ rwaId, file: out, nfts: counted.nfts });
  output.say('The file contains claim secrets; it is readable by you alone.');
}

async function writeCodes(
  rows: AsyncIterable<ExportRow>,
  { qr, format, claimStatus, rwaId, caption, output, session }: Target & { readonly qr: string },
): Promise<void> {
  const { count, smallest } = await interruptible(session, `${qr} was not made.`, (signal) =>
    writeQrFolder(rows, { folder: qr, format, caption, signal }),
  );
  output.record({ rwaId, folder: qr, claimStatus, nfts: count });
  if (count === 0) {
    const none = claimStatus === 'all' ? 'The RWA has no NFTs.' : `No NFT is ${claimStatus}.`;
    return output.say(`${none} Codes of NFTs of every status: --claim-status all`);
  }
  output.say('The folder contains claim secrets; it is readable by you alone.');
  output.say(`Print no code smaller than ${smallest} mm, and keep its white border.`);
}

async function* counting(rows: AsyncIterable<ExportRow>, counted: { nfts: number }) {
  for await (const row of rows) {
    counted.nfts += 1;
    yield row;
  }
}

const columns = ['serial', 'tokenId', 'nftId', 'url', 'claimStatus'] as const;

async function* csvLines(rows: AsyncIterable<ExportRow>): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const row of rows) yield csvLine(columns.map((name) => row[name]));
}

async function* jsonList(rows: AsyncIterable<ExportRow>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield before + JSON.stringify(row);
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

/** Writes a new file, completely or not at all. @throws UsageError when the file exists or cannot be created */
async function writeNew(path: string, lines: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error) => explainOpen(path, error));
  try {
    await pipeline(Readable.from(lines), file.createWriteStream(), { signal });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

function explainOpen(path: string, error: unknown): never {
  const code = errorCode(error);
  if (code === 'EEXIST')
    throw new UsageError(`${path} exists already: name another file, or remove it first.`);
  if (code === 'ENOENT') throw new UsageError(`${path} cannot be made: its folder does not exist.`);
  throw new UsageError(`${path} cannot be written: ${errorText(error)}`);
}
