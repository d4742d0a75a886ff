import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { allowListeners, countConnecting } from '../../src/system/this-process.js'
import { listenLocally } from '../support/listen-locally.js'

it('accepts a signal that Node does not know, as that of happy-dom', () => {
  expect(() => allowListeners(Object.create(null) as AbortSignal)).not.toThrow()
})

it.each(['127.0.0.1', 'localhost'])('counts connections to %s that are being opened', async (host) => {
  const { port } = new URL(await listenLocally(createServer()))
  const before = countConnecting()
  const socket = connect({ port: Number(port), host })
  onTestFinished(() => void socket.destroy())
  await new Promise(process.nextTick)
  expect(countConnecting()).toBe(before + 1)
  await once(socket, 'connect')
  await new Promise(setImmediate)
  expect(countConnecting()).toBe(before)
})
