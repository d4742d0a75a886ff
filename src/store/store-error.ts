import { Failure, type FailureCode } from '../domain/failures.js'

/** A store cannot be opened or written. */
export class StoreError extends Failure {
  override readonly name = 'StoreError'
}

/** What a file of the store has wrong, as a sentence part: `pets[3].id is "7", not a whole number`. */
export class Damage extends Error {
  override readonly name = 'Damage'
}

/** Names the damaged file. Nothing of it was touched. */
export function corrupt(file: string, damage: Error): StoreError {
  return new StoreError(
    'STORE_CORRUPT',
    `"${file}" is damaged: ${damage.message}. Nothing was changed: repair it, put a copy back, or choose another file with --store.`,
    { cause: damage },
  )
}

/** Passes a StoreError on as it is, and names the file for what the system said. */
export function cannot(code: FailureCode, deed: string, file: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError(
    code,
    `cannot ${deed} "${file}" (${reason(error)}). Check its folder, its permissions and the free space, or choose another file with --store.`,
    { cause: error },
  )
}

/** The system's own name for what went wrong (`ENOSPC: no space left on device, write`), else the message. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Whether a system call failed in one of these ways. */
export function failedWith(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
