import { HAS_REDIS } from './redis-server.js'

/** Says, once and before all tests, which are left out on this machine. */
export default function sayWhatIsLeftOut(): void {
  if (!HAS_REDIS) process.stderr.write('redis-server is not installed: the tests on a real Redis are left out.\n')
}
