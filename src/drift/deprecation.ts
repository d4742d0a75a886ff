import type { OperationData } from '../contract/contract-data.js'
import { quote } from '../contract/excerpt.js'
import { httpDate, SECOND_MS } from '../domain/time.js'
import type { Headers } from './exchange.js'

type Deprecable = Pick<OperationData, 'deprecated' | 'sunsetAt' | 'successor'>

/** What a response says about its operation's deprecation; `unsaid` if it has neither header. */
export type DeprecationReading =
  | { readonly kind: 'kept' | 'unsaid' }
  | { readonly kind: 'drift'; readonly breaches: readonly string[] }

/**
 * Checks Deprecation, Sunset and Link against the contract. The specification documents
 * which operation is deprecated, when it goes away and what replaces it, but not the headers:
 * all of them may be missing, but must not contradict it, nor leave out the one date that it gives.
 *
 * @param basePath path of the instance
 * @source RFC 9745: Deprecation; RFC 8594: Sunset; RFC 5829: successor-version
 */
export function readDeprecation(operation: Deprecable, headers: Headers, basePath: string): DeprecationReading {
  const { deprecation, sunset, link } = headers
  const successors = link === undefined ? [] : successorsIn(link)
  const breaches = operation.deprecated
    ? [
        ...(deprecation === undefined ? [] : deprecationBreaches(deprecation, operation)),
        ...(sunset === undefined ? missingSunset(operation, deprecation) : sunsetBreaches(sunset, operation.sunsetAt)),
        ...(link === undefined || LINKS.test(link) ? [] : [`Link is ${quote(link)}, which names no address in <…>`]),
        ...successors.flatMap((target) => successorBreaches(target, operation, basePath)),
      ]
    : undeprecated(deprecation, sunset, successors)
  if (breaches.length > 0) return { kind: 'drift', breaches }
  return { kind: operation.deprecated && deprecation === undefined && sunset === undefined ? 'unsaid' : 'kept' }
}

function undeprecated(
  deprecation: string | undefined,
  sunset: string | undefined,
  successors: readonly string[],
): readonly string[] {
  const names = [
    ...(deprecation === undefined ? [] : ['Deprecation']),
    ...(sunset === undefined ? [] : ['Sunset']),
    ...(successors.length === 0 ? [] : ['a Link to a successor']),
  ]
  if (names.length === 0) return []
  return [`${names.join(' and ')} is sent, but the contract does not deprecate the operation`]
}

function deprecationBreaches(deprecation: string, { sunsetAt }: Deprecable): readonly string[] {
  const seconds = /^@(-?\d{1,15})$/.exec(deprecation)?.[1]
  if (seconds === undefined) return [`Deprecation is ${quote(deprecation)}, not a date such as @1764892800`]
  if (sunsetAt === undefined || Number(seconds) * SECOND_MS <= sunsetAt) return []
  return [`Deprecation is ${deprecation}, after the removal on ${httpDate(sunsetAt)}`]
}

function missingSunset({ sunsetAt }: Deprecable, deprecation: string | undefined): readonly string[] {
  if (deprecation === undefined || sunsetAt === undefined) return []
  return [`Sunset is missing beside Deprecation: the contract says ${httpDate(sunsetAt)}`]
}

function sunsetBreaches(sunset: string, sunsetAt: number | undefined): readonly string[] {
  const said = Date.parse(sunset)
  if (Number.isNaN(said) || httpDate(said) !== sunset) return [`Sunset is ${quote(sunset)}, not an HTTP date`]
  if (sunsetAt === undefined || httpDate(said).slice(0, 16) === httpDate(sunsetAt).slice(0, 16)) return []
  return [`Sunset is ${sunset}, but the contract says ${httpDate(sunsetAt)}`]
}

/** Addresses and their parameters. @source RFC 8288, section 3 */
const LINKS = /<([^>]*)>([^<]*)/

/** Where the links to a successor lead. */
function successorsIn(link: string): readonly string[] {
  return [...link.matchAll(new RegExp(LINKS, 'g'))].flatMap(([, target = '', parameters = '']) => {
    const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(parameters)
    const names = (relations?.[1] ?? relations?.[2] ?? '').toLowerCase().split(/\s+/)
    return names.includes('successor-version') ? [target] : []
  })
}

function successorBreaches(target: string, { successor }: Deprecable, basePath: string): readonly string[] {
  if (successor === undefined) return []
  const wanted = new URL(`${basePath}${successor}`, ANYWHERE)
  const wrong = [`Link names ${quote(target)} as its successor, but the contract says ${basePath}${successor}`]
  if (!URL.canParse(target, ANYWHERE)) return wrong
  const { pathname, searchParams } = new URL(target, ANYWHERE)
  const hasAll = [...wanted.searchParams.keys()].every((name) => searchParams.has(name))
  return pathname === wanted.pathname && hasAll ? [] : wrong
}

/** Which host a link leads to says nothing: the instance may be behind another. */
const ANYWHERE = 'http://instance.invalid'
