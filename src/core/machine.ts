import type { Reply } from '../domain/messages.js'
import type { EndedCommand, Forward, Instant, RequestCommand } from './command.js'
import type { Spaces } from './spaces.js'

/** A verb that changes a sandbox. */
export interface VerbCommand {
  readonly kind: 'verb'
  readonly space: string
  readonly verb: string
  readonly input: unknown
  readonly fetched?: unknown
}

export type Command = RequestCommand | EndedCommand | VerbCommand

/** Never forwarded. */
type RefusedCommand = RequestCommand & Required<Pick<RequestCommand, 'refused'>>

/** @throws VerbError without changing any state */
export type ApplyVerb = (spaces: Spaces, command: VerbCommand, instant: Instant) => unknown

/**
 * A sandbox as a deterministic machine: the same commands in the same order, at the same instants, give the same
 * responses and the same state. It reads no clock and no file, draws only from its seed, and never waits.
 */
export class Machine {
  readonly spaces: Spaces
  #applyVerb: ApplyVerb

  constructor(spaces: Spaces, applyVerb?: ApplyVerb) {
    this.spaces = spaces
    this.#applyVerb =
      applyVerb ??
      (() => {
        throw new Error('The verbs are not loaded.')
      })
  }

  useVerbs(applyVerb: ApplyVerb): void {
    this.#applyVerb = applyVerb
  }

  /**
   * Returns the reply to a request (or that it must be forwarded), or the output of a verb.
   * @throws VerbError without changing any state
   */
  apply(command: RefusedCommand, instant: Instant): Reply
  apply(command: RequestCommand, instant: Instant): Reply | Forward
  apply(command: Command, instant: Instant): unknown
  apply(command: Command, instant: Instant): unknown {
    const outcome = this.#apply(command, instant)
    this.spaces.dropExpired(instant.now)
    return outcome
  }

  #apply(command: Command, instant: Instant): unknown {
    switch (command.kind) {
      case 'request':
        return this.spaces.handle(command, instant)
      case 'ended':
        return this.spaces.recordEnds(command, instant)
      case 'verb':
        return this.#applyVerb(this.spaces, command, instant)
    }
  }
}
