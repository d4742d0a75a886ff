import { describe, expect, it } from 'vitest'
import { type Controls, sandboxControls } from '../../src/api/controls.js'
import { overNetwork } from '../../src/api/over-network.js'
import { createSandbox, startSandbox } from '../../src/index.js'

const TRANSPORTS = {
  'in process': async () => createSandbox(),
  'over the network': async () => {
    const sandbox = await startSandbox()
    const controls = sandboxControls(overNetwork(sandbox.controlUrl))
    return Object.assign(controls, { [Symbol.asyncDispose]: () => sandbox.close() })
  },
}

async function removeUnknown(controls: Controls): Promise<void> {
  await controls.keys.remove('unknown')
  expect(await controls.unban('unknown')).toBeNull()
  await controls.pets.remove(12345)
  await controls.resource('pets').remove('12345')
  await controls.snapshots.remove('unknown')
}

describe.each(Object.entries(TRANSPORTS))('a clean-up of a space that was never opened, %s', (_way, open) => {
  it('succeeds and opens no space', async () => {
    await using sandbox = await open()
    const space = sandbox.space('never-opened')
    await space.storm.stop()
    await space.faults.clear()
    await space.unban('sandbox')
    await space.clock.reset()
    await space.requests.clear()
    await space.overrides.clear()
    await removeUnknown(space)
    expect(await space.remove()).toEqual({ removed: null })
    expect(await sandbox.spaces.list()).toEqual([])
  })

  it('leaves the last change of an open space to undo', async () => {
    await using sandbox = await open()
    const space = sandbox.space('a')
    await space.pets.remove(1)
    await removeUnknown(space)
    await removeUnknown(sandbox)
    expect(await space.undo()).toEqual({ undone: 'pets.remove' })
    expect((await sandbox.spaces.list()).map(({ name }) => name)).toEqual(['a'])
    expect(await sandbox.spaces.remove('a')).toEqual({ removed: 'a' })
  })
})
