import type { Finding, ViolationRule } from '../../conduct/conduct-view.js'
import type { Repeat } from '../../conduct/repeats.js'
import { counted } from '../../domain/numbers.js'
import { addressOf } from '../../domain/space-address.js'
import type { DurationMs } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { type CommandOutcome, exitCodeFor } from '../exec/run-command.js'
import { type AppliedScenario, LARGE_ID } from './resource.js'

export type SeenExchange = Omit<Exchange, 'receivedAt' | 'space' | 'key' | 'timing' | 'request' | 'response'>

export interface Evidence {
  readonly ending: CommandOutcome | 'timeout'
  readonly exchanges: readonly SeenExchange[]
  readonly violations: readonly Finding<ViolationRule>[]
  readonly repeats: readonly Repeat[]
  /** Records that the client has created. */
  readonly created: number
}

export interface Verdict {
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'untested' | 'not-applicable'
  /** Empty if it passed. */
  readonly reason: string
  readonly findings: readonly Finding<ViolationRule>[]
  readonly exchanges: readonly SeenExchange[]
}

/** Judges what a client did in a scenario. The first reason decides. */
export function judgeRun(scenario: AppliedScenario, evidence: Evidence): Verdict {
  const { name, expectation } = scenario
  const { ignores, delivers } = expectation
  const { exchanges, violations } = evidence
  const findings = violations.filter(({ rule }) => !ignores.includes(rule))
  const end = (outcome: Verdict['outcome'], reason = ''): Verdict => ({ name, outcome, reason, findings, exchanges })
  const failure = failureOf(scenario, evidence, findings)
  if (failure !== undefined) return end('failed', failure)
  const isDelivered = exchanges.some(({ reason, fault, status, operation }) =>
    delivers.some((word) => word === reason || word === fault || word === String(status) || word === operation),
  )
  if (exchanges.length === 0)
    return end('untested', 'No request was received. Does the client use PETSTORE_BASE_URL and PETSTORE_API_KEY?')
  if (!isDelivered) return end('untested', `No response had ${delivers.join(' or ')}, so the failure was not met.`)
  return end('passed')
}

function failureOf(
  { job, resource, expectation: { ends, attempts, largeId } }: AppliedScenario,
  { ending, exchanges, repeats, created }: Evidence,
  findings: readonly Finding[],
): string | undefined {
  const [finding] = findings
  const { list, get } = resource.operations
  if (created > 1) {
    const lost = finding === undefined ? '' : ` ${finding.message}`
    return `The client created ${created} ${resource.name} instead of one.${lost}`
  }
  if (finding !== undefined) return `${finding.rule}: ${finding.message}`
  const tooOften = attempts === undefined ? undefined : repeatedMore(exchanges, repeats, attempts)
  if (tooOften !== undefined) return tooOften
  const wrong = exchanges.find(({ operation, status, reason }) => operation === get?.id && status === 404 && !reason)
  if (wrong !== undefined)
    return `The client requested ${wrong.path}, a record that does not exist.${resource.id.kind === 'integer' ? ' Does it keep ids above 2^53 exactly?' : ''}`
  if (ending === 'timeout') return 'The command did not end in time and was stopped. Does the client have a timeout?'
  const code = `exit code ${exitCodeFor(ending)}`
  const isSuccess = ending.kind === 'exited' && ending.code === 0
  if (exchanges.length === 0) return isSuccess ? undefined : `The command ended with ${code} before any request.`
  if (ending.kind === 'signalled') return `The command was ended by ${ending.signal}.`
  // A client need not repeat a write.
  if (ends === 'success' && !isSuccess && job === 'read')
    return `The command failed (${code}), but could have succeeded.`
  if (ends === 'failure' && isSuccess) return 'The command ended with 0, although its requests were refused.'
  if (ends === 'failure' || !isSuccess) return undefined
  const served = exchanges.filter(({ ended, status }) => ended === 'sent' && status !== null && status < 300)
  if (job === 'read' && !served.some(({ operation }) => operation === list?.id))
    return 'The command ended with 0, but did not read the list.'
  if (job === 'create' && created === 0) return 'The command ended with 0, but created no record.'
  if (served.length === 0) return 'The command ended with 0, but received no response that shows the record.'
  const gets = exchanges.filter(({ operation, reason }) => operation === get?.id && !REMOVED.includes(reason))
  const [first] = gets
  if (first === undefined) return undefined
  if (!gets.some((exchange) => served.includes(exchange)))
    return 'The command ended with 0, but did not get the record.'
  if (largeId && !gets.some(({ path }) => path.includes(String(LARGE_ID))))
    return `The client requested ${first.path}, but the first record has the id ${LARGE_ID}.`
  return undefined
}

/** Reasons of a removed operation. The client may succeed in another way. */
const REMOVED: readonly SeenExchange['reason'][] = ['sunset', 'brownout']

function repeatedMore(
  exchanges: readonly SeenExchange[],
  repeats: readonly Repeat[],
  attempts: number,
): string | undefined {
  const most = repeats.reduce<Repeat | undefined>((a, b) => (a && a.times >= b.times ? a : b), undefined)
  const exchange = exchanges.find(({ id }) => id === most?.exchange)
  if (most === undefined || exchange === undefined || most.times < attempts) return undefined
  return `${exchange.method} ${addressOf(exchange)} was sent ${counted(most.times + 1, 'time')}, at most ${attempts} expected. Repeating it cannot help.`
}

/** Longer waits count as a pause on any machine, in milliseconds. */
const CERTAIN_PAUSE_MS = 400

/** Judges the waits of all runs. Half must be long, because a backoff may be random. */
export function judgeWaits(
  retries: readonly DurationMs[],
  pause: DurationMs,
  isBusy: boolean,
): Pick<Verdict, 'outcome' | 'reason'> {
  const doubtful = isBusy ? Math.max(pause, CERTAIN_PAUSE_MS) : pause
  const short = retries.filter((wait) => wait < pause).length
  if (retries.filter((wait) => wait >= doubtful).length >= retries.length / 2) return { outcome: 'passed', reason: '' }
  if (short > retries.length / 2)
    return {
      outcome: 'failed',
      reason: `The client repeated a refused request, and waited less than ${pause} ms before most retries. Back off before each retry.`,
    }
  return {
    outcome: 'untested',
    reason: 'The machine is too busy to see whether the client backs off. Run it again, with fewer --jobs.',
  }
}

/** The waits before retries: a backoff may begin with a short one, and a client may have to load code for it. */
export function measurePauses(repeats: readonly Repeat[]): readonly DurationMs[] {
  const later = repeats.filter(({ times }) => times > 1)
  return (later.length > 0 ? later : repeats).map(({ waitMs }) => waitMs)
}
