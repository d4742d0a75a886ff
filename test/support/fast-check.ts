import fc from 'fast-check'
import { randomStream } from '../../src/domain/random.js'
import { TEST_SEED } from './test-seed.js'

fc.configureGlobal({ seed: Math.floor(randomStream(TEST_SEED).next() * 2 ** 31) })

export default fc
