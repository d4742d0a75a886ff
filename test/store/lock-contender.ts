import { acquireLock, type Lock } from '../../src/store/lock.js'

/** A process that tries to take a lock each time it is told to, and says whether it has it. */
let lock: Lock | undefined
process.on('message', ({ verb, path }: { verb: 'acquire' | 'release'; path: string }) => {
  if (verb === 'release') {
    lock?.release()
    lock = undefined
    process.send?.('released')
    return
  }
  try {
    lock = acquireLock(path)
    process.send?.('won')
  } catch (error) {
    process.send?.(error instanceof Error && 'code' in error ? error.code : String(error))
  }
})
process.send?.('ready')
