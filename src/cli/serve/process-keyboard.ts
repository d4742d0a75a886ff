import { execFileSync } from 'node:child_process'
import { readRegularFile } from '../../system/regular-file.js'
import type { Keyboard } from '../io.js'

/**
 * How often a process in the background looks whether it is in front again: a shell tells it only if it was
 * stopped, not if it ran on there.
 */
const LOOK_EVERY_MS = 500

/** By then a stop that was asked for has come, or will not come: nobody could wake a job that no shell looks after. */
const STOPPED_BY_NOW_MS = 100

/** The terminal that this process is started from; undefined if it is none. */
export function openKeyboard(): Keyboard | undefined {
  const { stdin } = process
  if (!stdin.isTTY) return undefined
  return {
    listen({ onKeys, onHangup }) {
      let isReading = false
      const begin = () => {
        // Whoever touches the terminal from the background is stopped for it.
        if (isReading || !isInForeground()) return
        try {
          stdin.setRawMode(true)
        } catch {
          // The terminal is gone, or not to be had.
          return
        }
        isReading = true
        stdin.resume()
      }
      const end = () => {
        if (!isReading) return
        isReading = false
        stdin.pause()
        try {
          stdin.setRawMode(false)
        } catch {
          // The terminal is gone.
        }
      }
      const goOn = () => {
        if (!isReading) return begin()
        isReading = false
        if (!isInForeground()) {
          stdin.pause()
          return
        }
        // Stopped by somebody else: the shell may have taken the terminal back, of which Node knows nothing.
        stdin.setRawMode(false)
        begin()
      }
      const take = (piece: Buffer) => onKeys(piece.toString())
      // A terminal that was closed.
      const hangUp = () => onHangup()
      stdin.on('data', take).pause()
      stdin.on('error', hangUp)
      stdin.on('end', hangUp)
      process.on('SIGHUP', hangUp)
      process.on('SIGCONT', goOn)
      // To look is cheap only where a file tells.
      const looking = process.platform === 'linux' ? setInterval(begin, LOOK_EVERY_MS).unref() : undefined
      begin()
      return {
        isReading,
        suspend() {
          end()
          process.kill(0, 'SIGTSTP')
          setTimeout(begin, STOPPED_BY_NOW_MS).unref()
        },
        stop() {
          end()
          stdin.off('data', take)
          process.off('SIGCONT', goOn)
          clearInterval(looking)
          // It stays heard, as do the other stop signals: a stop that has begun is finished.
        },
      }
    },
    raise: (signal) => void process.kill(0, signal),
  }
}

/** Whether the terminal belongs to this process's group now. Where nothing tells, it does. */
function isInForeground(): boolean {
  try {
    const [group, foreground] = groups()
    return group === foreground
  } catch {
    return true
  }
}

/** @source proc(5), /proc/pid/stat: pgrp is field 5, tpgid field 8, and the name in field 2 may hold anything; ps(1), elsewhere */
function groups(): readonly (string | undefined)[] {
  if (process.platform === 'linux') {
    const stat = readRegularFile('/proc/self/stat').toString('latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [fields[2], fields[5]]
  }
  const told = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' })
  return told.trim().split(/\s+/)
}
