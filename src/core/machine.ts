import type { Reply } from '../domain/messages.js'
import type { Forward } from '../domain/upstream.js'
import type { EndedCommand, ForwardedCommand, Instant, RequestCommand } from './command.js'
import type { Spaces } from './spaces.js'

/** Something that changes a sandbox, from whoever steers it. Verbs that only read are no commands. */
export interface VerbCommand {
  readonly kind: 'verb'
  /** Empty for the default space. */
  readonly space: string
  readonly verb: string
  /** As it was given. */
  readonly input: unknown
  /** What was fetched for it beforehand. */
  readonly fetched?: unknown
}

/** Whatever can change a sandbox. */
export type Command = RequestCommand | ForwardedCommand | EndedCommand | VerbCommand

/** What never became a request is never sent on. */
type RefusedCommand = RequestCommand & Required<Pick<RequestCommand, 'refused'>>

/** Does a verb. @throws whatever says why it cannot be done; nothing has changed then */
export type ApplyVerb = (spaces: Spaces, command: VerbCommand, instant: Instant) => unknown

/**
 * A sandbox as one deterministic machine: the same commands in the same order,
 * at the same instants, give the same answers and the same state.
 *
 * Nothing in here reads a clock, draws a number that its seed does not decide,
 * reads or writes a file, or waits.
 */
export class Machine {
  readonly spaces: Spaces
  #applyVerb: ApplyVerb

  /** @param applyVerb undefined until verbs are needed */
  constructor(spaces: Spaces, applyVerb?: ApplyVerb) {
    this.spaces = spaces
    this.#applyVerb =
      applyVerb ??
      (() => {
        throw new Error('The verbs are not loaded.')
      })
  }

  /** Hands in the verbs, which are loaded with the first of them. */
  useVerbs(applyVerb: ApplyVerb): void {
    this.#applyVerb = applyVerb
  }

  /**
   * Applies a command.
   *
   * @returns the reply to a request, or that it is to be sent on first; the output of a verb
   * @throws for a verb that cannot be done; nothing has changed then
   */
  apply(command: ForwardedCommand | RefusedCommand, instant: Instant): Reply
  apply(command: RequestCommand, instant: Instant): Reply | Forward
  apply(command: Command, instant: Instant): unknown
  apply(command: Command, instant: Instant): unknown {
    switch (command.kind) {
      case 'request':
        return this.spaces.handle(command, instant)
      case 'forwarded':
        return this.spaces.complete(command, instant)
      case 'ended':
        return this.spaces.hear(command, instant)
      case 'verb':
        return this.#applyVerb(this.spaces, command, instant)
    }
  }
}
