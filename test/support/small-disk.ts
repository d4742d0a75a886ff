import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** Mounts a disk of 64 KiB on a folder for the time of a test. @returns whether this machine allows that */
export function mountSmallDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return false
  }
  onTestFinished(() => void execFileSync('umount', [folder]))
  return true
}
