import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { readRegularFile } from '../../system/regular-file.js'

export interface ProcessFacts {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly isZombie: boolean
  readonly isMarked: boolean
}

/** Empty where the system does not report them. @param mark `NAME=value` to look for in environments */
export function processes(mark?: string): readonly ProcessFacts[] {
  try {
    return process.platform === 'linux' ? fromProc(mark) : fromPs(mark)
  } catch {
    return []
  }
}

/** @source proc(5): "pid (name) state parent group session tty foreground-group …", where the name may hold anything */
function statFields(pid: string): readonly string[] {
  const stat = textOf(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function fromProc(mark: string | undefined): readonly ProcessFacts[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const [state, parent, group] = statFields(name)
      if (group === undefined) return []
      const isMarked = mark !== undefined && textOf(`/proc/${name}/environ`).split('\0').includes(mark)
      const isZombie = state === 'Z' || state === 'X'
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), isZombie, isMarked }]
    })
}

function textOf(file: string): string {
  try {
    return readRegularFile(file).toString('latin1')
  } catch {
    return ''
  }
}

function ps(...args: readonly string[]): string {
  return execFileSync('ps', args, {
    encoding: 'latin1',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  })
}

/** macOS prints the environment after the command (-E). */
function fromPs(mark: string | undefined): readonly ProcessFacts[] {
  const environment = mark !== undefined && process.platform === 'darwin' ? ['-E', '-ww'] : []
  const lines = ps('-A', ...environment, '-o', 'pid=,ppid=,pgid=,stat=,command=').split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, group, state = '', command = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s*(.*)$/.exec(line) ?? []
    if (pid === undefined) return []
    const isMarked = mark !== undefined && ` ${command} `.includes(` ${mark} `)
    return [
      { pid: Number(pid), parent: Number(parent), group: Number(group), isZombie: state.startsWith('Z'), isMarked },
    ]
  })
}

/** Whether this process is in its terminal's foreground group; assumed where the system does not report it. */
export function isInForeground(): boolean {
  try {
    const [group, foreground] =
      process.platform === 'linux'
        ? [statFields('self')[2], statFields('self')[5]]
        : ps('-o', 'pgid=,tpgid=', '-p', String(process.pid)).trim().split(/\s+/)
    return foreground === undefined || group === foreground
  } catch {
    return true
  }
}

export interface ProcessTree {
  signal(signal: NodeJS.Signals): void
  isAlive(): boolean
}

/** Without process groups, only the command itself can be reached. */
export const NO_TREE: ProcessTree = { signal: () => {}, isAlive: () => false }

/** @param mark `NAME=value`: processes with it among their variables belong to the tree even if they left the group */
export function groupTree(leader: number, mark?: string): ProcessTree {
  const others = () =>
    mark === undefined
      ? []
      : processes(mark).filter(({ isMarked, isZombie, group }) => isMarked && !isZombie && group !== leader)
  return {
    signal(signal) {
      for (const { pid } of others()) send(pid, signal)
      send(-leader, signal)
    },
    isAlive() {
      if (others().length > 0) return true
      if (!send(-leader, 0)) return false
      // In a container whose init does not reap children, zombies stay in their group.
      const members = processes().filter(({ group }) => group === leader)
      return members.length === 0 || members.some(({ isZombie }) => !isZombie)
    },
  }
}

/** In our own group, which may hold unrelated processes: descendants, and orphans with the mark in their variables. */
export function markedTree(self: number, mark: string): ProcessTree {
  const members = () => membersAmong(processes(mark), self)
  return {
    signal: (signal) => {
      for (const pid of members()) send(pid, signal)
    },
    isAlive: () => members().length > 0,
  }
}

export function membersAmong(all: readonly ProcessFacts[], self: number): readonly number[] {
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]))
  const group = all.find(({ pid }) => pid === self)?.group
  const descends = (from: number) => {
    const seen = new Set<number>()
    for (let pid: number | undefined = from; pid !== undefined && !seen.has(pid); pid = parents.get(pid)) {
      if (pid === self) return true
      seen.add(pid)
    }
    return false
  }
  return all
    .filter((one) => one.pid !== self && one.group === group && !one.isZombie && (one.isMarked || descends(one.parent)))
    .map(({ pid }) => pid)
}

function send(to: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(to, signal)
  } catch {
    return false
  }
}
