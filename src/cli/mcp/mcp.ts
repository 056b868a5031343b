import type { Command } from 'commander';
import { createOutgoing } from '../../outgoing/outgoing.ts';
import { examples } from '../shared/examples.ts';
import type { Session } from '../shared/session.ts';
import { siteUrl, wholeNumber } from '../shared/values.ts';
import { createTools } from './tools.ts';

const afterHelp = `
Environment:
  TALLYSTICK_KEY       the API key that calls are made with
  TALLYSTICK_KEY_FILE  the path of a file with the key, instead
  TALLYSTICK           address of the service (default: http://localhost:3000)
With --local, address and key are those of the sample company acme.`;

type McpOptions = { url?: string; write?: boolean; secrets?: boolean; timeout: number };

export function addMcpCommand(program: Command, session: Session): void {
  const mcp = program
    .command('mcp')
    .description(
      'Serve the operations as tools of the Model Context Protocol, over standard input and output; calls go to the service over HTTP',
    )
    .option('--url <address>', 'address of the service, instead of TALLYSTICK', siteUrl)
    .option('--write', 'allow tools that change something or give tickets; without it they only read')
    .option(
      '--secrets',
      'pass claim secrets and claim URLs on to the model, and allow tools that show a secret once',
    )
    // The service itself answers within 45 s, with an answer or 503.
    .option('--timeout <seconds>', 'time for one answer of the service', wholeNumber(1, 600), 50)
    .action((options: McpOptions) => serve(session, options));
  examples(mcp, 'mcp', 'mcp --url https://api.example --write', '--local mcp');
  mcp.addHelpText('after', afterHelp);
}

async function serve(session: Session, options: McpOptions): Promise<void> {
  const { url, write = false, secrets = false, timeout } = options;
  const { baseUrl, apiKey } = session.client();
  // Only now: no other command waits for the protocol to load.
  const { serveTools } = await import('./tool-server.ts');
  const outgoing = createOutgoing();
  // An answer of 5xx is one that the model should see.
  const service = outgoing.open({
    kind: 'service',
    label: '',
    maxConcurrent: 8,
    failingStatus: Number.POSITIVE_INFINITY,
  });
  const stop = new AbortController();
  const stopWaiting = session.onInterrupt(() => stop.abort());
  const { version, channel } = session;
  const allowed = { write, secrets };
  const caller = { baseUrl: url ?? baseUrl, apiKey, service, timeoutMs: timeout * 1_000, ...allowed };
  try {
    await serveTools({ ...caller, version, tools: createTools() }, channel(), stop.signal);
  } finally {
    stopWaiting();
    outgoing.close();
  }
}
