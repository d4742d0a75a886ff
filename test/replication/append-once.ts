import { readRedisAddress } from '../../src/domain/redis-address.js'
import { openRedisLog } from '../../src/replication/redis-log.js'

/** Appends an entry to the log at an address, and prints the outcome. */
const address = readRedisAddress(String(process.argv[2]))
if ('problem' in address) throw new Error(address.problem)
try {
  const log = await openRedisLog({ address, group: 'group', warn: () => {} })
  await log.append({ replica: 'a', batch: 1, text: '' }, 0, new AbortController().signal)
  process.stdout.write('appended\n')
  await log.close()
} catch (error) {
  process.stdout.write(`${error}\n`)
}
