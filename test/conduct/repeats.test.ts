import { expect, it } from 'vitest'
import { Repeats } from '../../src/conduct/repeats.js'
import type { HandlerResult } from '../../src/domain/messages.js'
import { Scene } from './scene.js'

function watched(): readonly [Scene, Repeats] {
  const scene = new Scene()
  scene.ledger.repeats = new Repeats()
  return [scene, scene.ledger.repeats]
}

const REFUSED: HandlerResult = { status: 401, body: '', reason: 'forced' }

it('finds requests that were sent after the refusal of the same request, with its number and its wait', () => {
  const [scene, { found }] = watched()
  for (const wait of [100, 250, 0]) {
    scene.exchanges(scene.failure)
    scene.pass(wait)
  }
  scene.exchanges(scene.served)
  scene.exchanges(scene.served)
  const waits = [100, 250, 0].map((waitMs, index) => ({ times: index + 1, waitMs }))
  expect(found).toMatchObject(waits)
  expect(found).toHaveLength(3)
})

it.each([1, 3])('does not take %i parallel requests for repetitions, and each may be repeated', (count) => {
  const [scene, { found }] = watched()
  const sent = Array.from({ length: count }, () => scene.sends(REFUSED))
  for (const position of sent) scene.ends(position)
  expect(found).toEqual([])
  for (let n = 0; n < count; n++) scene.exchanges(scene.served)
  expect(found.map(({ times }) => times)).toEqual(Array(count).fill(1))
})

it('does not count refusals that were not received', () => {
  const [scene, { found }] = watched()
  scene.ends(scene.sends(REFUSED), 'left')
  scene.exchanges(scene.served)
  expect(found).toEqual([])
})
