import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseJson } from '../../src/contract/json.js'
import { randomStream } from '../../src/domain/random.js'
import { type SpawnedServe, spawnServe } from '../support/spawned-serve.js'

const WRITERS = 8
const KILLS = Number(process.env.KILLS ?? 4)

const FLAGS = ['--limits', '1000000000/min,1000000000/day', '--log-limit', '0']

/** Posts pets until the server dies, and notes each one whose 201 was read to its end. */
async function write(
  { baseUrl }: SpawnedServe,
  writer: number,
  acknowledged: Map<string, string>,
  onAnswer: () => void,
) {
  for (let i = 0; ; i++) {
    const body = `{"name":"writer ${writer} ${i} 🐕","categoryId":${9223372036854775807n - BigInt(i)},"status":"sold"}`
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    try {
      const response = await fetch(`${baseUrl}/pets`, { method: 'POST', headers, body })
      const text = await response.text()
      if (response.status !== 201) throw new Error(`createPet answered ${response.status}: ${text}`)
      acknowledged.set(String((parseJson(text) as { id: number }).id), text)
      onAnswer()
    } catch (error) {
      if (error instanceof TypeError) return
      throw error
    }
  }
}

describe('a store under 8 writers, killed at random', () => {
  it(`has every acknowledged pet, digit for digit, after each of ${KILLS} kills`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kill-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const chance = randomStream('kills')
    const acknowledged = new Map<string, string>()
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await spawnServe(folder, ...FLAGS)
      let left = 50 + Math.floor(chance.next() * 500)
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        write(server, writer, acknowledged, () => {
          if (--left === 0) server.child.kill('SIGKILL')
        }),
      )
      await Promise.all([server.ended, ...writers])

      const again = await spawnServe(folder, ...FLAGS)
      for (const [id, text] of acknowledged) {
        const response = await fetch(`${again.baseUrl}/pets/${id}`, { headers: { authorization: 'Bearer sandbox' } })
        expect(await response.text()).toBe(text)
      }
      expect(await again.end('SIGTERM')).toBe(0)
    }
    expect(acknowledged.size).toBeGreaterThan(50 * KILLS)
  })
})
