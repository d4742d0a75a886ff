import { type Controls, type SandboxControls, splitKey } from '../../api/controls.js'
import type { CliIo } from '../io.js'
import { UsageError } from './errors.js'
import type { Found } from './find-sandbox.js'

/** What the action of a `control` verb gets to work with. */
export interface ControlContext {
  /** Of the named space, or of the default one. */
  readonly controls: Controls
  readonly sandbox: SandboxControls
  /** Empty for the default space. */
  readonly space: string
  readonly found: Found
  readonly json: boolean
  readonly io: CliIo
}

/**
 * The controls of the space that a key names (`sandbox-pro~checkout`), and the key
 * without it, as it stands in that space.
 *
 * @throws UsageError if `--space` names another one
 */
export function ofKey({ controls, sandbox, space }: ControlContext, sent: string): { controls: Controls; key: string } {
  const { key, space: named } = splitKey(sent)
  if (named === '') return { controls, key }
  if (space !== '' && space !== named)
    throw new UsageError(`The key is of the space "${named}", but --space is "${space}".`)
  return { controls: sandbox.space(named), key }
}
