import { relative } from 'node:path'
import { perform } from '../../control/perform.js'
import type { VerbName } from '../../control/verb-map.js'
import type { StormView } from '../../control/views.js'
import { labelOf } from '../../domain/keys.js'
import { parseDuration } from '../../domain/time.js'
import type { RunningSandbox } from '../../sandbox.js'
import { messageOf } from '../../system/message-of.js'
import type { CliIo, KeyboardSession } from '../io.js'
import type { ServeLog } from '../serve-log.js'
import { type BannerFacts, banner } from './banner.js'
import { type KeyAction, keyReader } from './keys.js'
import { openBrowser } from './open-browser.js'

const DEFAULT_COLUMNS = 80

/** What `serve` is at a terminal. */
export interface Interaction {
  /** The sandbox as it is now: with --watch, another one may have taken its place. */
  sandbox(): RunningSandbox
  readonly log: ServeLog
  readonly io: CliIo
  /** The store's file; undefined for none. */
  readonly store: string | undefined
  /** The group of which it is a replica; undefined for none. */
  readonly group: string | undefined
  readonly seed: number
  stop(): void
}

/** Shows the banner, and reads keys where there are any. @returns how to leave the terminal as it was */
export async function interact(interaction: Interaction): Promise<() => void> {
  const { io } = interaction
  const keyboard = io.stderr.isTTY === true ? await io.keyboard?.() : undefined
  let session: KeyboardSession | undefined
  if (keyboard !== undefined) {
    const take = keyReader(actionsOf(interaction), {
      say: interaction.log.note,
      raise(signal) {
        if (signal === 'SIGTSTP') session?.suspend()
        else {
          // A second Ctrl-C is the terminal's own again.
          session?.stop()
          keyboard.raise(signal)
        }
      },
      failed: (error) => interaction.log.warning(messageOf(error)),
    })
    session = keyboard.listen({ onKeys: take, onHangup: interaction.stop })
  }
  interaction.log.note(banner(factsOf(interaction, session?.isReading ?? false), io.stderr.columns ?? DEFAULT_COLUMNS))
  return () => session?.stop()
}

/** Opens the dashboard, or says where it is. */
export async function openDashboard({ sandbox, log }: Pick<Interaction, 'sandbox' | 'log'>): Promise<void> {
  const url = `${sandbox().controlUrl}/`
  const problem = await openBrowser(url)
  if (problem !== undefined) log.warning(`The dashboard could not be opened (${problem}). It is at ${url}`)
}

/** Each does what the verb of its name does, to the default space. */
function actionsOf(interaction: Interaction): Readonly<Record<string, KeyAction>> {
  const { log, stop } = interaction
  const act = <Name extends VerbName>(verb: Name, input: object = {}) =>
    perform(interaction.sandbox().core.controlTarget, '', verb, input)
  return {
    o: { does: 'open the dashboard', run: () => openDashboard(interaction) },
    r: {
      does: 'reset everything to its start (asks first)',
      question: 'Reset everything to its start?',
      run: async () => void (await act('reset')),
    },
    t: { does: 'move the clock one minute on', run: async () => void (await act('clock.advance', { by: '1m' })) },
    s: {
      does: 'a storm of 429s for 30 s, or its end',
      async run() {
        const [storm, { now }] = await Promise.all([act('storm.show'), act('clock.show')])
        if (isRunning(storm, Date.parse(now))) await act('storm.stop')
        else await act('storm.start', { for: '30s' })
      },
    },
    c: { does: 'clear the screen', run: () => log.clear() },
    q: { does: 'quit', run: stop },
  }
}

function isRunning(storm: StormView | null, now: number): boolean {
  if (storm === null) return false
  const lasts = storm.for === null ? undefined : parseDuration(storm.for)
  // One that returns is running until it is stopped, also between two of its spells.
  return lasts === undefined || storm.every !== null || now < Date.parse(storm.startedAt) + lasts
}

function factsOf({ sandbox, io, store, group, seed }: Interaction, readsKeys: boolean): BannerFacts {
  const { baseUrl, controlUrl, plan, petCount, core } = sandbox()
  const { keys, shared } = core.spaces.default
  // A key that is shown by a label may be somebody's real one.
  const open = [...keys.values()].find((apiKey) => apiKey.always === undefined && labelOf(apiKey) === apiKey.key)
  const plainest = shared.contract.operations.find(({ method, path }) => method === 'GET' && !path.includes('{'))
  return {
    baseUrl,
    controlUrl,
    plan,
    pets: petCount,
    seed,
    key: open?.key,
    path: plainest?.path ?? '',
    store: store === undefined ? undefined : relative(io.cwd, store),
    group,
    upstream: shared.realService?.baseUrl,
    readsKeys,
  }
}
