import { type Command, InvalidArgumentError } from 'commander'
import { PAGE_POLICY } from '../control/pages.js'
import { playgroundDirectory } from '../system/package-files.js'
import { explain } from './help.js'
import { type CliIo, EXIT, onStopSignals, SIGNAL_EXIT } from './io.js'
import { print, printLine } from './print.js'

const DEFAULT_PORT = 4020

const NOTES = `\
Serves a page that runs the sandbox in the browser, with five clients that retry well
or badly. Any web host can serve the same files, from the folder printed on stderr.

Prints the address on stdout, and runs until you stop it (Ctrl-C). The page then keeps
working without it.`

interface Flags {
  readonly port: number
  readonly open?: boolean
}

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(command, {
    examples: ['petstore-sandbox playground', 'petstore-sandbox playground --port 0 --open'],
    notes: NOTES,
  })
  command
    .option('-p, --port <n>', 'port to listen on; 0 for any free one', portNumber, DEFAULT_PORT)
    .option('--open', 'open the page in a browser')
    .option('--debug', 'show stack traces')
    .action(async (flags: Flags) => finish(await playground(flags, io)))
}

async function playground({ port, open }: Flags, io: CliIo): Promise<number> {
  const { serveSite } = await import('../http/static-site.js')
  let askToStop = () => {}
  const askedToStop = new Promise<void>((resolve) => {
    askToStop = resolve
  })
  onStopSignals(io, { graceful: askToStop, force: (signal) => io.exit(SIGNAL_EXIT[signal]) })
  const site = await serveSite(playgroundDirectory, port, PAGE_POLICY)
  const url = `http://127.0.0.1:${site.port}/`
  await print(io.stdout, `${url}\n`)
  printLine(io.stderr, `Serving "${playgroundDirectory}". Press Ctrl-C to stop.`)
  if (open === true) {
    const { openBrowser } = await import('./serve/open-browser.js')
    const problem = await openBrowser(url)
    if (problem !== undefined) printLine(io.stderr, `No browser could be opened (${problem}). The page is at ${url}`)
  }
  await askedToStop
  await site.stop()
  return EXIT.ok
}

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new InvalidArgumentError('must be a whole number from 0 to 65535')
}
