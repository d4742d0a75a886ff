import { descendsFrom, type ProcessFacts, processes } from './processes.js'

/** A command and everything it started, except daemons. */
export interface ProcessTree {
  /** Sends a signal to every member that is still running. */
  signal(signal: NodeJS.Signals): void
  isAlive(): boolean
}

/**
 * The members of a process group that was made for the command. A daemon, which
 * makes a group of its own, is no member.
 */
export function groupTree(leader: number): ProcessTree {
  return {
    signal: (signal) => void send(-leader, signal),
    isAlive: () => send(-leader, 0) && !isAllZombies(leader),
  }
}

/** In a container whose init does not reap children, zombies stay in their group. */
function isAllZombies(group: number): boolean {
  const members = processes().filter((one) => one.group === group)
  return members.length > 0 && members.every(({ isZombie }) => isZombie)
}

/**
 * The members among the processes of our own group, where strangers may be too (the
 * rest of a pipeline, a script, its other jobs): those that descend from us, and
 * those that carry the mark of the sandbox in their environment, their parent being dead.
 *
 * @param self this process
 * @param mark what stands in the environment of members, and of nobody else
 */
export function markedTree(self: number, mark: string): ProcessTree {
  const members = () => membersAmong(processes(mark), self)
  return {
    signal: (signal) => {
      for (const pid of members()) send(pid, signal)
    },
    isAlive: () => members().length > 0,
  }
}

/** Where there are no groups: only the command itself can be reached. */
export const NO_TREE: ProcessTree = { signal: () => {}, isAlive: () => false }

export function membersAmong(all: readonly ProcessFacts[], self: number): readonly number[] {
  const group = all.find(({ pid }) => pid === self)?.group
  return all
    .filter((one) => one.pid !== self && one.group === group && !one.isZombie)
    .filter((one) => one.isMarked || descendsFrom(one, self, all))
    .map(({ pid }) => pid)
}

/** @returns false if no such process exists any more */
function send(to: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(to, signal)
  } catch {
    return false
  }
}
