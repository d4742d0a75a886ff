import type { GenericSchema } from 'valibot'
import type { Spaces } from '../space/spaces.js'
import type { World } from '../space/world.js'

/** What a verb works on: the space that it is meant for, and the sandbox round it. */
export interface Steered {
  readonly world: World
  readonly spaces: Spaces
}

/**
 * One thing that can be done to a running sandbox. Control routes, the remote
 * API and the `control` command are all made from these.
 */
export interface Verb<Input = unknown, Output = unknown> {
  /** HTTP method and path below `/__sandbox`. */
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** One sentence for its description. */
  readonly summary: string
  /** Shape of the JSON body; undefined where it takes none. */
  readonly input?: GenericSchema<unknown, Input>
  run(steered: Steered, input: Input): Output | Promise<Output>
}

/** Could not be done; nothing was changed. */
export class VerbError extends Error {
  readonly code: 'invalid_request' | 'not_found' | 'conflict' | 'too_many_spaces'

  constructor(code: VerbError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Declares a verb, so that its function's input is known from its schema. */
export function verb<Input, Output>(definition: Verb<Input, Output>): Verb<Input, Output> {
  return definition
}
