import { readRegularFile } from './regular-file.js'

/**
 * When a process started, which tells it from an earlier one with the same pid; undefined outside Linux.
 * @source proc(5), /proc/pid/stat: state is field 3, starttime field 22, and the name in field 2 may contain blanks and brackets
 */
export function processStart(
  pid: number | 'self',
): { readonly started: string; readonly isZombie: boolean } | undefined {
  try {
    const stat = readRegularFile(`/proc/${pid}/stat`).toString('latin1')
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { started: `${rest[18]}`, isZombie: /[ZXx]/.test(state) }
  } catch {
    return undefined
  }
}
