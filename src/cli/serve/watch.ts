import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Contract } from '../../contract/contract.js'
import { stringifyJson } from '../../contract/json.js'
import { openContract } from '../../contract/open-contract.js'
import { perform } from '../../control/perform.js'
import { OptionsError } from '../../options/options.js'
import type { ResolvedOptions } from '../../options/resolve.js'
import { CONFIG_FILE } from '../../options/sources.js'
import { messageOf } from '../../system/message-of.js'
import type { ServeLog } from '../serve-log.js'
import type { Runs } from './runs.js'

/** Polling also works on network drives, in containers, and with editors that replace files. */
const POLL_MS = 250

const FIXTURES = ['pets.json', 'orders.json', 'keys.json']

const FIXED = ['host', 'port', 'store', 'log'] as const satisfies readonly (keyof ResolvedOptions)[]

export interface Watched {
  readonly cwd: string
  readonly log: ServeLog
  readonly runs: Runs
  resolve(): ResolvedOptions
}

/** @returns a function that stops; resolves once no change is being applied */
export function watch(watched: Watched): () => Promise<void> {
  const { log, cwd } = watched
  const known = new Map<string, string>()
  let isOver = false
  let turn: Promise<void> = Promise.resolve()
  const findChanged = () => {
    const files = filesOf(watched).map((file) => ({ file, state: stateOf(file), before: known.get(file) }))
    for (const { file, state } of files) known.set(file, state)
    return files.filter(({ state, before }) => before !== undefined && before !== state).map(({ file }) => file)
  }
  const look = () => {
    const changed = findChanged().map((file) => relative(cwd, file))
    if (changed.length === 0) return
    turn = turn.then(() => (isOver ? undefined : reload(changed.join(', '), watched)))
  }
  findChanged()
  const polling = setInterval(look, POLL_MS).unref()
  log.event('watch', [...known.keys()].map((file) => relative(cwd, file)).join(', '))
  return () => {
    isOver = true
    clearInterval(polling)
    return turn
  }
}

function stateOf(file: string): string {
  try {
    const { mtimeNs, size, ino } = statSync(file, { bigint: true })
    return [mtimeNs, size, ino].join()
  } catch {
    return 'not there'
  }
}

function filesOf({ cwd, runs }: Watched): readonly string[] {
  const { fixtures, scenarioFile, spec } = runs.run.options
  return [
    join(cwd, CONFIG_FILE),
    ...(fixtures === undefined ? [] : FIXTURES.map((name) => join(fixtures, name))),
    ...(scenarioFile === undefined ? [] : [scenarioFile]),
    ...(spec === undefined ? [] : [spec]),
  ]
}

async function reload(file: string, watched: Watched): Promise<void> {
  const { log } = watched
  try {
    log.event('watch', `${file} has changed: ${await apply(watched)}`)
  } catch (error) {
    const problems = error instanceof OptionsError ? error.problems : [messageOf(error)]
    for (const problem of problems) log.warning(`${file} has changed, but the sandbox stays as it was: ${problem}`)
  }
}

async function apply({ runs, resolve }: Watched): Promise<string> {
  const { options: before, contract, sandbox } = runs.run
  const options = resolve()
  const fixed: string[] = FIXED.filter((name) => differs(before[name], options[name]))
  const served = await openContract(options.spec, { mocked: options.mock })
  if ((options.basePath ?? served.basePath) !== (before.basePath ?? contract.basePath)) fixed.push('basePath')
  if (fixed.length > 0) throw new Error(`${fixed.join(', ')} cannot change while it runs. Start serve again for that.`)
  const { start: startBefore, ...othersBefore } = before
  const { start, ...others } = options
  const isOtherContract = options.spec !== before.spec || (await textOf(served)) !== (await textOf(contract))
  if (isOtherContract || differs(othersBefore, others)) {
    await runs.replace(options, served)
    const lost = options.store === undefined ? '; state in memory was lost' : ''
    return `restarted${isOtherContract ? ' with the contract as it is now' : ''}${lost}`
  }
  const done: string[] = []
  if (differs(startBefore, start)) {
    sandbox.core.startAs(start)
    runs.adopt(options)
    const inForce = (['settings', 'storm', 'faults'] as const).filter((name) => differs(startBefore[name], start[name]))
    const later = (['now', 'freeze', 'used', 'bans'] as const).filter((name) => differs(startBefore[name], start[name]))
    if (inForce.length > 0) done.push(`${inForce.join(', ')} in force`)
    if (later.length > 0) done.push(`${later.join(', ')} from the next reset on`)
  }
  const { spaces, controlTarget } = sandbox.core
  if (controlTarget.readFixtures() !== spaces.default.seed) {
    for (const name of ['', ...spaces.names()]) await perform(controlTarget, name, 'reset', {})
    done.push('every space was reset to the fixtures')
  }
  return done.length === 0 ? 'no effect' : done.join('; ')
}

function textOf(contract: Contract): Promise<string> {
  return contract.text('json')
}

function differs(one: unknown, other: unknown): boolean {
  return stringifyJson(one ?? null) !== stringifyJson(other ?? null)
}
