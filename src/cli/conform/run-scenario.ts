import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_TIMER_MS } from '../../client/limits.js'
import type { Conduct } from '../../conduct/conduct-view.js'
import { Repeats } from '../../conduct/repeats.js'
import type { Values } from '../../contract/contract.js'
import { parseJson, stringifyJson } from '../../contract/json.js'
import { Failure } from '../../domain/failures.js'
import { sentKeyText } from '../../domain/keys.js'
import { addressInSpace } from '../../domain/space-address.js'
import type { DurationMs } from '../../domain/time.js'
import type { RunningSandbox } from '../../start/sandbox.js'
import type { Environment } from '../../system/this-process.js'
import { type RunningCommand, runCommand, startFailure } from '../exec/run-command.js'
import { type AppliedScenario, jobOperations, LARGE_ID } from './resource.js'
import { judgeRun, judgeWaits, measurePauses, type SeenExchange, type Verdict } from './verdict.js'

/** Of the command's output; the last of it is shown with a failure. */
const OUTPUT_KEPT_BYTES = 4096
/** How long exchanges may take to end after the command. */
const END_TIMEOUT_MS: DurationMs = 2000
const END_CHECK_MS: DurationMs = 20
/** Runs of a scenario that requires a pause: a busy machine delays retries, so one run shows little. */
const MIN_PAUSE_RUNS = 3
const MAX_PAUSE_RUNS = 12
/** Processor time of some work after each run. A machine that needs clearly longer for it is busy. */
const PROBE_MS: DurationMs = 20
const BUSY_FACTOR = 1.5

export interface ConformRun {
  readonly sandbox: RunningSandbox
  readonly name: string
  readonly args: readonly string[]
  readonly env: Environment
  readonly cwd: string
  readonly timeout: DurationMs
  /** Commands that are running, so that a signal can end them. */
  readonly running: Set<RunningCommand>
  /** Called at the first exchange of a space. */
  readonly first: Map<string, () => void>
  /** By a signal: no command is run any more. */
  isStopped(): boolean
}

export interface ScenarioRun extends Verdict {
  readonly output: string
  readonly seconds: number
}

export async function runScenario(scenario: AppliedScenario, run: ConformRun): Promise<ScenarioRun> {
  const { pause } = scenario.expectation
  const runs: ScenarioRun[] = []
  const waits: DurationMs[] = []
  let probed = 0
  for (;;) {
    const { ending, output, seconds, ...seen } = await runOnce(scenario, run)
    const last = { ...judgeRun(scenario, { ...seen, ending }), output, seconds }
    runs.push(last)
    waits.push(...measurePauses(seen.repeats))
    if (pause === undefined || waits.length === 0 || run.isStopped()) return last
    probed += probe()
    const backoff = { ...last, ...judgeWaits(waits, pause, probed > BUSY_FACTOR * PROBE_MS * runs.length) }
    const failed = backoff.outcome === 'failed' ? backoff : runs.find(({ outcome }) => outcome !== 'passed')
    const isDecided = failed !== undefined || backoff.outcome === 'passed'
    if (runs.length >= (isDecided ? MIN_PAUSE_RUNS : MAX_PAUSE_RUNS)) return failed ?? backoff
  }
}

/**
 * How long the machine takes for work of `PROBE_MS`. The load average would include earlier processes, and in a container
 * those outside of it.
 */
function probe(): DurationMs {
  const [startedAt, before] = [performance.now(), process.cpuUsage()]
  for (;;) {
    const { user, system } = process.cpuUsage(before)
    if (user + system >= 1000 * PROBE_MS) return performance.now() - startedAt
  }
}

async function runOnce(scenario: AppliedScenario, run: ConformRun) {
  const { name, expectation, switches, resource } = scenario
  const space = `conform-${name}`
  const control = <T>(method: string, path: string, body?: unknown) => ask<T>(run.sandbox, space, method, path, body)
  await control('POST', '/reset')
  await control('PUT', '/scenario', switches)
  const path = `/resources/${encodeURIComponent(resource.name)}`
  const list = () => control<readonly Values[]>('GET', path)
  if (expectation.largeId) {
    const [newest] = await list()
    const { property } = resource.id
    for (const id of [newest?.[property], LARGE_ID])
      await control('DELETE', `${path}/${encodeURIComponent(String(id))}`)
    await control('POST', path, { ...newest, [property]: LARGE_ID })
  }
  if (expectation.advance !== undefined) await control('POST', '/clock/advance', { by: expectation.advance })
  // A window must not end while the command is still starting.
  if (switches.freeze === true) run.first.set(space, () => void control('PUT', '/clock', { frozen: false }))
  const before = await list()
  const repeats = new Repeats()
  const ledger = run.sandbox.core.spaces.get(space)?.conduct
  if (ledger !== undefined) ledger.repeats = repeats
  const startedAt = performance.now()
  const { ending, output } = await runJob(scenario, run)
  const seconds = (performance.now() - startedAt) / 1000
  const exchanges = await endedExchanges(() => control('GET', '/requests'))
  const { violations } = await control<Conduct>('GET', '/conduct')
  const created = (await list()).length - before.length
  return { ending, output, seconds, exchanges, violations, repeats: repeats.found, created }
}

async function runJob(scenario: AppliedScenario, run: ConformRun) {
  const { expectation, job } = scenario
  const { name, args, cwd, running, timeout } = run
  const space = `conform-${scenario.name}`
  const pieces: Buffer[] = []
  let kept = 0
  const command = runCommand({
    name,
    args,
    cwd,
    env: {
      ...run.env,
      PETSTORE_BASE_URL: addressInSpace(run.sandbox.baseUrl, space),
      // A named sender is judged as one client.
      PETSTORE_API_KEY: sentKeyText(expectation.key, space, 'client'),
      PETSTORE_SCENARIO: scenario.name,
      PETSTORE_JOB: job,
      PETSTORE_CONFORM_STEPS: jobOperations(job, scenario.resource)
        .map(({ id }) => id)
        .join(','),
    },
    onOutput(piece) {
      pieces.push(piece)
      kept += piece.length
      while (kept - (pieces[0]?.length ?? kept) >= OUTPUT_KEPT_BYTES) kept -= pieces.shift()?.length ?? 0
    },
  })
  running.add(command)
  if (run.isStopped()) command.kill()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), Math.min(timeout, MAX_TIMER_MS))
  })
  const ending = await Promise.race([command.ended, late])
  clearTimeout(timer)
  if (ending === 'timeout') command.kill()
  await command.sweep()
  running.delete(command)
  if (ending !== 'timeout' && ending.kind === 'unstartable') throw startFailure(name, ending.cause)
  return { ending, output: Buffer.concat(pieces).subarray(-OUTPUT_KEPT_BYTES).toString() }
}

/** The exchanges in order of arrival, once all have ended. */
async function endedExchanges(read: () => Promise<readonly SeenExchange[]>): Promise<readonly SeenExchange[]> {
  const giveUpAt = performance.now() + END_TIMEOUT_MS
  for (;;) {
    const exchanges = await read()
    if (exchanges.every(({ ended }) => ended !== null) || performance.now() > giveUpAt) return exchanges
    await sleep(END_CHECK_MS)
  }
}

async function ask<T>(
  { core, controlUrl }: RunningSandbox,
  space: string,
  method: string,
  path: string,
  body?: unknown,
) {
  const request = new Request(`${controlUrl}${path}?space=${space}`, {
    method,
    headers: { 'content-type': 'application/json', host: new URL(controlUrl).host },
    ...(body === undefined ? {} : { body: stringifyJson(body) }),
  })
  const response = await core.control(request)
  const text = await response.text()
  if (!response.ok) throw new Failure('INTERNAL', `The space ${space} could not be prepared: ${text}`)
  return (text === '' ? undefined : parseJson(text)) as T
}
