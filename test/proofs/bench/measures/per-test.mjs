import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterEach, describe, test } from 'vitest'
import { test as sandboxTest } from '../../../dist/vitest.js'

const msw = setupServer()
const numbers = Array.from({ length: Number(process.env.TESTS) }, (_, number) => number)

for (let round = 0; round < Number(process.env.ROUNDS); round++) {
  describe('empty', () => test.for(numbers)('%i', () => {}))
  describe('fixture', () => sandboxTest.for(numbers)('%i', (_, { sandbox }) => void sandbox))
  describe('handlers', () => {
    afterEach(() => msw.resetHandlers())
    test.for(numbers)('%i', () => msw.use(http.get('http://shop.test/pets', () => HttpResponse.json([]))))
  })
}
