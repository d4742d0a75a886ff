import { spawnSync } from 'node:child_process'

/**
 * Whether a tool is installed.
 *
 * @throws Error if it is missing and LEAVE_NOTHING_OUT is set, as in the gate
 */
export function requireTool(name: string, isThere: () => boolean): boolean {
  const found = isThere()
  if (!found && process.env.LEAVE_NOTHING_OUT !== undefined)
    throw new Error(`${name} is not installed, and LEAVE_NOTHING_OUT is set.`)
  return found
}

/** Whether there is a tmux to test with. */
export const HAS_TMUX = requireTool('tmux', () => spawnSync('tmux', ['-V']).status === 0)

/** Whether there are the shells that completion is for. */
export const HAS_SHELLS = ['bash', 'zsh', 'fish'].every((shell) =>
  requireTool(shell, () => spawnSync(shell, ['--version']).status === 0),
)
