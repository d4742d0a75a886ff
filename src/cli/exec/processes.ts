import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { readRegularFile } from '../../system/regular-file.js'

/** A process of this machine, as far as it can be seen. */
export interface ProcessFacts {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** It has ended but has not been reaped yet. */
  readonly isZombie: boolean
  /** The mark is in the environment it was started with. */
  readonly isMarked: boolean
}

/**
 * All processes that can be seen; none where the system does not say.
 *
 * @param mark what to look for in environments; nothing is looked for without it
 */
export function processes(mark?: string): readonly ProcessFacts[] {
  try {
    return process.platform === 'linux' ? fromProc(mark) : fromPs(mark)
  } catch {
    return []
  }
}

export function descendsFrom(one: ProcessFacts, ancestor: number, all: readonly ProcessFacts[]): boolean {
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]))
  const seen = new Set<number>()
  let pid: number | undefined = one.parent
  while (pid !== undefined && !seen.has(pid)) {
    if (pid === ancestor) return true
    seen.add(pid)
    pid = parents.get(pid)
  }
  return false
}

/** Whether a process is in its terminal's foreground group; assumed where the system does not say. */
export function isInForeground(pid: number): boolean {
  try {
    const text = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(pid)], {
      encoding: 'latin1',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [group, foreground] = text.trim().split(/\s+/)
    return foreground === undefined || group === foreground
  } catch {
    return true
  }
}

/** @source proc(5): "pid (name) state parent group …", where the name may hold anything */
function fromProc(mark: string | undefined): readonly ProcessFacts[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = textOf(`/proc/${name}/stat`)
      const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (group === undefined) return []
      return [
        {
          pid: Number(name),
          parent: Number(parent),
          group: Number(group),
          isZombie: state === 'Z' || state === 'X',
          isMarked: mark !== undefined && textOf(`/proc/${name}/environ`).split('\0').includes(mark),
        },
      ]
    })
}

/** Empty if the process has ended or belongs to another user. */
function textOf(file: string): string {
  try {
    return readRegularFile(file).toString('latin1')
  } catch {
    return ''
  }
}

/** macOS shows the environment after the command (-E); other systems only show parents. */
function fromPs(mark: string | undefined): readonly ProcessFacts[] {
  const environment = mark !== undefined && process.platform === 'darwin' ? ['-E', '-ww'] : []
  const text = execFileSync('ps', ['-A', ...environment, '-o', 'pid=,ppid=,pgid=,stat=,command='], {
    encoding: 'latin1',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  })
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state = '', command = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s*(.*)$/.exec(line) ?? []
    if (pid === undefined) return []
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        isZombie: state.startsWith('Z'),
        isMarked: mark !== undefined && ` ${command} `.includes(` ${mark} `),
      },
    ]
  })
}
