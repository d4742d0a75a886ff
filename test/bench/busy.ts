import { cpus } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 3_000

/** How much of the machine's processors others use while this process waits for some seconds: a share, 0 to 1. */
export async function busyShare(): Promise<number> {
  const before = processorTimes()
  await pause(LOOK_MS)
  const after = processorTimes()
  return 1 - (after.idle - before.idle) / (after.all - before.all)
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(({ times }) => times)
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  }
}
