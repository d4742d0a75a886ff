import { expect, it } from 'vitest'
import { allowListeners } from '../../src/system/this-process.js'

it('accepts a signal that Node does not know, as that of happy-dom', () => {
  expect(() => allowListeners(Object.create(null) as AbortSignal)).not.toThrow()
})
