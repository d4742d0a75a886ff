import type { ResponseEnd } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'

export type TrafficForm = 'har' | 'log' | 'ncsa'

export interface SandboxFacts {
  /** Label of the key; `none` and `unknown` are labels too. */
  readonly key: string
  readonly space: string
  readonly sender: string
  readonly reason: string | null
  readonly fault: string | null
  readonly ended: ResponseEnd | null
}

export type TrafficHeaders = Readonly<Record<string, string | undefined>>

export interface TrafficRecord {
  /** The line, or the entry of an archive on one line, from 1. */
  readonly place: number
  readonly at: EpochMs
  /** From its arrival to the end of its response; 0 if unknown. */
  readonly durationMs: number
  readonly method: string
  /** Lower case, with its port; undefined if unknown. */
  readonly host: string | undefined
  readonly path: string
  readonly query: string
  readonly headers: TrafficHeaders | undefined
  /** Undefined if unknown, empty if none was sent. */
  readonly body: string | undefined
  /** 0 if the client got none. */
  readonly status: number
  /** Undefined if the input has no response headers. */
  readonly response: { readonly headers: TrafficHeaders; readonly body: string } | undefined
  readonly user?: string
  /** A browser answered it itself, or never sent it. */
  readonly isUnsent?: true
  readonly own?: SandboxFacts
}

export interface TrafficSink {
  record(record: TrafficRecord): void
  /** Something unreadable. @param problem a sentence part: `is not JSON` */
  bad(place: number, problem: string): void
}

export interface ReadResult {
  readonly unit: 'line' | 'entry'
  /** Why the input is incomplete, as a sentence part; undefined if it is complete. */
  readonly missing: string | undefined
}

export type TrafficReader = (chunks: AsyncIterable<Buffer>, sink: TrafficSink) => Promise<ReadResult>

type Unknown<Name extends string> = Readonly<Partial<Record<Name, unknown>>>

/** @param ended what the end is taken for if the input does not name a known one */
export function readSandboxFacts(
  { key, space, sender, reason, fault, ended }: Unknown<keyof SandboxFacts>,
  fallback: ResponseEnd | null,
): SandboxFacts {
  return {
    key: asText(key),
    space: asText(space),
    sender: asText(sender),
    reason: typeof reason === 'string' ? reason : null,
    fault: typeof fault === 'string' ? fault : null,
    ended: ended === 'sent' || ended === 'left' || ended === 'cut' || ended === 'unknown' ? ended : fallback,
  }
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?/i

/** The parts of an address or of a target without a host; undefined for neither (`data:`, `*`). Decodes nothing. */
export function addressParts(text: string): Pick<TrafficRecord, 'host' | 'path' | 'query'> | undefined {
  const [, host, path = '', query = ''] = ADDRESS.exec(text) ?? []
  if (host === undefined && !path.startsWith('/')) return undefined
  return { host: host?.toLowerCase(), path: path || '/', query }
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/i

/** A date with its time, ISO 8601; without a zone it is in UTC. Undefined for anything else. */
export function readIsoInstant(text: unknown): EpochMs | undefined {
  const match = DATE_TIME.exec(asText(text))
  const at = match === null ? Number.NaN : Date.parse(match[1] === undefined ? `${text}Z` : `${text}`)
  return Number.isNaN(at) ? undefined : at
}
