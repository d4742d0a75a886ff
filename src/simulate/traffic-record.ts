import type { AnswerEnd } from '../domain/ending.js'
import type { EpochMs } from '../domain/time.js'

/** Forms in which traffic is read. */
export type TrafficForm = 'har' | 'log' | 'ncsa'

/** What the sandbox's own log says besides. */
export interface OwnFacts {
  /** Label of the key; `none` and `unknown` are labels, too. */
  readonly key: string
  /** Empty for the default space. */
  readonly space: string
  readonly reason: string | null
  readonly fault: string | null
  /** Null while it was under way. */
  readonly ended: AnswerEnd | null
}

/** Headers by their lower-case names. */
export type TrafficHeaders = Readonly<Record<string, string | undefined>>

/** One request that a client really sent, as far as the input tells. */
export interface TrafficRecord {
  /** The line, or the entry of an archive on one line, from 1. */
  readonly place: number
  readonly at: EpochMs
  /** From its arrival to the end of its answer; 0 where the input does not say. */
  readonly durationMs: number
  readonly method: string
  /** Lower case, with its port; undefined where the input does not say. */
  readonly host: string | undefined
  /** Not decoded. */
  readonly path: string
  /** What followed the "?". */
  readonly query: string
  /** Undefined where the input has none. */
  readonly headers: TrafficHeaders | undefined
  /** Undefined where the input does not tell it, empty where none was sent. */
  readonly body: string | undefined
  /** 0 where the client got none. */
  readonly status: number
  /** Undefined where the input has no headers of answers, so that nobody knows what they told. */
  readonly answer: { readonly headers: TrafficHeaders; readonly body: string } | undefined
  /** Who was logged in, in a combined log. */
  readonly user?: string
  /** A browser answered it itself, or never sent it. */
  readonly isUnsent?: true
  readonly own?: OwnFacts
}

/** Takes what a reader finds. */
export interface TrafficSink {
  record(record: TrafficRecord): void
  /** Something that cannot be read. @param problem a sentence part: `is no JSON` */
  bad(place: number, problem: string): void
}

/** Reads traffic of one form, piece by piece. */
export interface TrafficReader {
  /** What its places count. */
  readonly unit: 'line' | 'entry'
  push(chunk: Buffer): void
  /** @returns why the input is not whole, as a sentence part; undefined if it is */
  end(): string | undefined
}
