import { Failure, type FailureCode } from '../domain/failures.js'
import { messageOf } from '../system/message-of.js'

export class StoreError extends Failure {
  override readonly name = 'StoreError'
}

/** The message is a phrase: `pets[3].id is "7", where a 64-bit integer is expected`. */
export class CorruptionError extends Error {
  override readonly name = 'CorruptionError'
}

export function corrupt(file: string, damage: Error): StoreError {
  return new StoreError(
    'STORE_CORRUPT',
    `"${file}" is damaged: ${damage.message}. The file was not changed. Repair it, restore a copy, choose another file with --store, start over with --reset, which keeps a copy, or use --in-memory.`,
    { cause: damage },
  )
}

export function cannot(code: FailureCode, deed: string, file: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError(
    code,
    `cannot ${deed} "${file}" (${messageOf(error)}). Check its folder, its permissions and the free space, or choose another file with --store.`,
    { cause: error },
  )
}

export function failedWith(error: unknown, ...codes: readonly string[]): boolean {
  // Not `instanceof`: Jest runs tests in a realm of their own, where errors of Node are of another class.
  return codes.includes(String(Object(error).code))
}
