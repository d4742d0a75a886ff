import { relative } from 'node:path'
import { shellCommand, shellWord } from '../../advice/curl.js'
import type { Contract } from '../../contract/contract.js'
import { isStateful } from '../../contract/resource-data.js'
import { perform } from '../../control/perform.js'
import type { VerbName } from '../../control/verb-map.js'
import { sampleHeader } from '../../domain/key-places.js'
import { keyLabel } from '../../domain/keys.js'
import { counted } from '../../domain/numbers.js'
import { hasStorm } from '../../domain/storm.js'
import { describeOrigins } from '../../domain/web-origins.js'
import type { RunningSandbox } from '../../start/sandbox.js'
import { messageOf } from '../../system/message-of.js'
import { systemClock } from '../../system/system-clock.js'
import type { CliIo } from '../io.js'
import { colourLevel, escapeControls, terminalWidth, wrapRows, wrapWords } from '../print.js'
import { type ServeLog, startText } from '../serve-log.js'
import { cellWidth } from '../table.js'
import { type KeyAction, keyReader, openKeyboard } from './keys.js'
import { openBrowser } from './open-browser.js'

const DEFAULT_COLUMNS = 80

export interface Interaction {
  /** The current sandbox: --watch may replace it. */
  sandbox(): RunningSandbox
  readonly log: ServeLog
  readonly io: CliIo
  readonly store: string | undefined
  readonly group: string | undefined
  readonly seed: number
  stop(): void
}

export function interact(interaction: Interaction): () => void {
  const { io, log } = interaction
  let leave: (() => void) | undefined
  const onKey = keyReader(actionsFor(interaction), {
    printLine: log.note,
    raise(signal) {
      if (signal === 'SIGTSTP') log.note('Keys are off from now on; Ctrl-C stops the sandbox.')
      log.flush()
      // Only once: a process that is continued in the background may not read from the terminal.
      leave?.()
      // To the whole process group, as the terminal would.
      process.kill(0, signal)
    },
    failed: (error) => log.warning(messageOf(error)),
  })
  if (io.stderr.isTTY === true) leave = openKeyboard(onKey, interaction.stop)
  log.note(banner(interaction, leave !== undefined))
  return () => leave?.()
}

export async function openDashboard({ sandbox, log }: Pick<Interaction, 'sandbox' | 'log'>): Promise<void> {
  const url = `${sandbox().controlUrl}/`
  const problem = await openBrowser(url)
  if (problem !== undefined) log.warning(`The dashboard could not be opened (${problem}). It is at ${url}`)
}

function actionsFor(interaction: Interaction): Readonly<Record<string, KeyAction>> {
  const { log, stop } = interaction
  const act = <Name extends VerbName>(verb: Name, input: object = {}) =>
    perform(interaction.sandbox().core.controlTarget, '', verb, input)
  return {
    o: { does: 'open the dashboard', run: () => openDashboard(interaction) },
    r: {
      does: 'reset everything to the initial state (asks first)',
      question: 'Reset everything to the initial state?',
      run: async () => void (await act('reset')),
    },
    t: { does: 'move the clock one minute on', run: async () => void (await act('clock.advance', { by: '1m' })) },
    s: {
      does: 'start a storm of 429s for 30 s, or stop it',
      async run() {
        const space = interaction.sandbox().core.spaces.default
        const { storm } = space.state
        if (hasStorm(storm, space.now(systemClock.wall()))) await act('storm.stop')
        else await act('storm.start', { storm: { for: '30s' } })
      },
    },
    c: { does: 'clear the screen', run: () => log.clear() },
    q: { does: 'quit', run: stop },
  }
}

const MAX_MOCKED_SHOWN = 5

function operationsLine(operations: Contract['operations'], columns: number): readonly string[] {
  const mocked = operations.filter((operation) => !isStateful(operation)).map(({ id }) => id)
  if (mocked.length === 0) return []
  const shown = mocked.slice(0, MAX_MOCKED_SHOWN).map(escapeControls).join(', ')
  const more = mocked.length > MAX_MOCKED_SHOWN ? ', …' : ''
  const stateful = counted(operations.length - mocked.length, 'operation')
  return wrapRows(`stateful: ${stateful} · mocked: ${mocked.length} (${shown}${more})`, columns - 3).map(
    (row) => `  ${row}`,
  )
}

/** The first lines on a terminal. @source docs/cli.md, "Ready line" */
function banner({ sandbox, io, store, group, seed }: Interaction, readsKeys: boolean): string {
  const { baseUrl, controlUrl, plan, limits, records, core } = sandbox()
  const columns = terminalWidth(io.stderr) ?? DEFAULT_COLUMNS
  const bold = colourLevel(io.stderr, io.env) === 0 ? baseUrl : `\u001b[1m${baseUrl}\u001b[22m`
  const { keys, shared } = core.spaces.default
  // A key with a label may be a real one.
  const open = [...keys.values()].find((apiKey) => apiKey.always === undefined && keyLabel(apiKey) === apiKey.key)
  const simplest = shared.contract.operations.find(({ method, path }) => method === 'GET' && !path.includes('{'))
  const { name, prefix } = sampleHeader(shared.contract)
  const curl = `  ${shellCommand('curl', '-H', `${name}: ${prefix}${escapeControls(open?.key ?? '<one of your keys>')}`)}`
  const url = shellWord(escapeControls(`${baseUrl}${simplest?.path ?? ''}`))
  const upstream = shared.upstream?.baseUrl
  const place =
    group !== undefined
      ? `shared by the replicas of the group "${group}", in Redis`
      : store === undefined
        ? 'none: everything is in memory'
        : escapeControls(relative(io.cwd, store))
  return [
    wrapWords(`Ready on ${baseUrl} (${startText({ plan, limits, records, seed })})`, columns).replace(baseUrl, bold),
    '',
    // A shell joins the two lines of a copied command.
    ...(cellWidth(`${curl} ${url}`) < columns ? [`${curl} ${url}`] : [`${curl} \\`, `    ${url}`]),
    '',
    ...(upstream === undefined
      ? []
      : [`  in front of ${escapeControls(upstream)}, for ${describeOrigins(shared.cors)}`]),
    `  dashboard  ${controlUrl}/`,
    `  docs       ${controlUrl}/docs`,
    `  store      ${place}`,
    ...operationsLine(shared.contract.operations, columns),
    ...(readsKeys ? ['', 'press h for help'] : []),
    '',
  ].join('\n')
}
