import { acquireLock, type Lock } from '../../src/store/lock.js'

/** Acquires or releases a lock on request, and reports the outcome. */
let lock: Lock | undefined
process.on('message', async ({ verb, path }: { verb: 'acquire' | 'release'; path: string }) => {
  if (verb === 'release') {
    lock?.release()
    lock = undefined
    process.send?.('released')
    return
  }
  try {
    lock = await acquireLock(path)
    process.send?.('won')
  } catch (error) {
    process.send?.(error instanceof Error && 'code' in error ? error.code : String(error))
  }
})
process.send?.('ready')
