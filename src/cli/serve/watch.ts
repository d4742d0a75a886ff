import { readdirSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { Contract } from '../../contract/contract.js'
import { stringifyJson } from '../../contract/json.js'
import { perform } from '../../control/perform.js'
import { Failure } from '../../domain/failures.js'
import { openContract } from '../../openapi/open-contract.js'
import type { ResolvedOptions } from '../../options/resolve.js'
import { CONFIG_FILE } from '../../options/sources.js'
import { messageOf } from '../../system/message-of.js'
import type { ServeLog } from '../serve-log.js'
import type { Run, Runs } from './runs.js'

/** Polling also works on network drives, in containers, and with editors that replace files. */
const POLL_MS = 250

const FIXED = ['host', 'port', 'store', 'log'] as const satisfies readonly (keyof ResolvedOptions)[]

export interface Watched {
  readonly log: ServeLog
  readonly runs: Runs
  readonly files: WatchedFiles
  resolve(): ResolvedOptions
}

/** The files that a sandbox is made from, and their last known states. */
export class WatchedFiles {
  readonly #cwd: string
  readonly #known = new Map<string, string>()
  /** Files that a contract refers to. */
  readonly #parts = new Set<string>()

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  /** Call this before a file is read, so that no later change of it is missed. @returns their names */
  add(options?: ResolvedOptions, contract?: Contract): readonly string[] {
    const files = this.#filesOf(options, contract)
    for (const file of files) this.#known.set(file, this.#known.get(file) ?? stateOf(file))
    return files.map((file) => relative(this.#cwd, file))
  }

  readonly addPart = (file: string): void => {
    this.#parts.add(file)
    this.#known.set(file, this.#known.get(file) ?? stateOf(file))
  }

  /** @returns the names of the files that have changed since the last call */
  findChanged({ options, contract }: Run): readonly string[] {
    const changed = this.#filesOf(options, contract).filter((file) => {
      const [before, now] = [this.#known.get(file), stateOf(file)]
      this.#known.set(file, now)
      return (before ?? NOT_THERE) !== now
    })
    return changed.map((file) => relative(this.#cwd, file))
  }

  #filesOf(
    { fixtures, scenarioFile, spec, handlers }: Partial<ResolvedOptions> = {},
    contract?: Contract,
  ): readonly string[] {
    const records = contract?.resources.map(({ name }) => `${name}.json`) ?? []
    const seeds =
      fixtures === undefined
        ? []
        : ['keys.json', ...records, ...jsonFilesIn(fixtures)].map((name) => join(fixtures, name))
    const named = [scenarioFile, spec, handlers].filter((file) => file !== undefined)
    return [...new Set([join(this.#cwd, CONFIG_FILE), ...seeds, ...named, ...this.#parts])]
  }
}

/** @returns a function that stops; resolves once no change is being applied */
export function watch(watched: Watched): () => Promise<void> {
  const { log, runs, files } = watched
  let isOver = false
  let turn: Promise<void> = Promise.resolve()
  const look = () => {
    const changed = files.findChanged(runs.run)
    if (changed.length === 0) return
    turn = turn.then(() => (isOver ? undefined : reload(changed.join(', '), watched)))
  }
  const polling = setInterval(look, POLL_MS).unref()
  log.event('watch', files.add(runs.run.options, runs.run.contract).join(', '))
  return () => {
    isOver = true
    clearInterval(polling)
    return turn
  }
}

/** Also those that are new. */
function jsonFilesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
}

const NOT_THERE = 'not there'

function stateOf(file: string): string {
  try {
    const { mtimeNs, size, ino } = statSync(file, { bigint: true })
    return [mtimeNs, size, ino].join()
  } catch {
    return NOT_THERE
  }
}

async function reload(file: string, watched: Watched): Promise<void> {
  const { log } = watched
  try {
    log.event('watch', `${file} has changed: ${await apply(file, watched)}`)
  } catch (error) {
    const problems = error instanceof Failure ? error.problems : [messageOf(error)]
    for (const problem of problems) log.warning(`${file} has changed, but the sandbox stays as it was: ${problem}`)
  }
}

/** @param file the names of the files that have changed */
async function apply(file: string, { runs, files, resolve }: Watched): Promise<string> {
  const { options: before, contract, sandbox } = runs.run
  const options = resolve()
  files.add(options)
  const fixed: string[] = FIXED.filter((name) => differs(before[name], options[name]))
  const served = await openContract(options.spec, { mocked: options.mock, onRead: files.addPart })
  files.add(options, served)
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
  const { spaces, controlTarget } = sandbox.core
  // The checks come first: if one fails, nothing has been applied.
  await controlTarget.checkFaults(start.faults)
  const seed = controlTarget.readFixtures()
  const done: string[] = []
  if (options.handlers !== undefined) {
    await sandbox.core.loadHandlers()
    if (file.includes(basename(options.handlers))) done.push('handlers in force')
  }
  if (differs(startBefore, start)) {
    sandbox.core.startAs(start)
    runs.adopt(options)
    const inForce = (['settings', 'storm', 'faults'] as const).filter((name) => differs(startBefore[name], start[name]))
    const later = (['now', 'freeze', 'used', 'bans'] as const).filter((name) => differs(startBefore[name], start[name]))
    if (inForce.length > 0) done.push(`${inForce.join(', ')} in force`)
    if (later.length > 0) done.push(`${later.join(', ')} from the next reset on`)
  }
  if (seed !== spaces.default.seed) {
    for (const name of ['', ...spaces.names()])
      if (spaces.get(name) !== undefined) await perform(controlTarget, name, 'reset', {})
    done.push('every space was reset to the fixtures')
  }
  return done.length === 0 ? 'no effect' : done.join('; ')
}

function textOf(contract: Contract): Promise<string> {
  return contract.text('json')
}

function differs(a: unknown, b: unknown): boolean {
  return stringifyJson(a ?? null) !== stringifyJson(b ?? null)
}
