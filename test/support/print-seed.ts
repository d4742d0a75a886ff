import { beforeEach } from 'vitest'
import { TEST_SEED } from './test-seed.js'

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => void process.stderr.write(`TEST_SEED=${TEST_SEED} repeats the random choices.\n`))
})
