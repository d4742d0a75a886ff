import type { SimulationReport } from '../../simulate/report.js'
import { LEFT_OUT } from '../../simulate/simulation.js'
import type { Places } from '../conduct/text-report.js'

// What the text and the page say alike.

const FORMS: Readonly<Record<SimulationReport['input']['form'], string>> = {
  har: 'HTTP archive',
  log: 'log of a sandbox',
  ncsa: 'access log',
}
/** Things of one kind that a sentence names. */
const MOST_NAMED = 5

/** `traffic.har (HTTP archive): 500 requests of 5 keys, 2026-03-01 00:00:00 to 23:59:59 UTC` */
export function headline(name: string, { input, requests, keys, from, to }: SimulationReport): string {
  const when = from === null || to === null ? '' : `, ${timeText(from)} to ${timeText(to, from)} UTC`
  return `${name} (${FORMS[input.form]}): ${counted(requests, 'request')} of ${counted(keys.length, 'key')}${when}`
}

/** What was not simulated, and what makes figures doubtful; a sentence each. */
export function remarks({ input, requests }: SimulationReport): readonly string[] {
  const { bad, missing, outOfOrder, leftOut, hosts, elsewhere, unit } = input
  const [, several] = placesOf(unit)
  const out = Object.entries(LEFT_OUT).flatMap(([cause, why]) => {
    const count = leftOut[cause as keyof typeof LEFT_OUT]
    return count === undefined ? [] : [`${count} ${why}`]
  })
  const named = bad.first.slice(0, MOST_NAMED).map(({ place, problem }) => `${unit} ${place} ${problem}`)
  return [
    ...(missing === null ? [] : [`The input is not whole: it ${missing}.`]),
    ...(bad.count === 0
      ? []
      : [`${counted(bad.count, unit, several)} could not be read: ${listed(named, bad.count)}.`]),
    ...(out.length === 0 ? [] : [`Left out: ${out.join('; ')}.`]),
    ...(leftOut.elsewhere === undefined
      ? []
      : [
          `Other hosts and paths: ${listed(
            elsewhere.slice(0, MOST_NAMED).map(({ name, requests: count }) => `${name} ${count}`),
            elsewhere.length,
          )}.`,
        ]),
    ...(hosts.length < 2
      ? []
      : [
          `More hosts than one are counted together: ${listed(
            hosts.slice(0, MOST_NAMED).map(({ name, requests: count }) => `${name} ${count}`),
            hosts.length,
          )}. Choose one with --host.`,
        ]),
    ...(outOfOrder === 0
      ? []
      : [
          `${counted(outOfOrder, 'request')} came more than a minute out of order${outOfOrder * 100 > requests ? ', so the figures cannot be relied on. Sort the input by time' : ''}.`,
        ]),
  ]
}

/** Which plan is enough, in a sentence; undefined if nothing was simulated. */
export function verdict({ requests, cheapest, headRoom, keys }: SimulationReport): string | undefined {
  if (requests === 0) return undefined
  const whom = keys.length === 1 ? '' : keys.length === 2 ? ' of both keys' : ` of all ${keys.length} keys`
  if (cheapest === null) return `Every plan would have refused some requests${whom}.`
  return `The cheapest plan that refuses nothing${whom} is ${cheapest}, up to ${factorText(headRoom ?? 1)} this traffic.`
}

/** `×2.5`; beyond hundreds nobody counts. */
export function factorText(factor: number): string {
  return `×${factor >= 100 ? Math.floor(factor) : factor}`
}

export function placesOf(unit: SimulationReport['input']['unit']): Places {
  return unit === 'line' ? ['line', 'lines'] : ['entry', 'entries']
}

function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`
}

/** @param all how many there are, of which these are the first */
function listed(names: readonly string[], all: number): string {
  return all > names.length ? `${names.join(', ')} and ${all - names.length} more` : names.join(', ')
}

/** Without the day where that is the same. */
function timeText(iso: string, before?: string): string {
  const [day = '', time = ''] = iso.split('T')
  const clock = time.slice(0, 8)
  return before?.startsWith(day) ? clock : `${day} ${clock}`
}
