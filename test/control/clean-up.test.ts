import { expect, it } from 'vitest'
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

it.each(Object.entries(TRANSPORTS))(
  'removing unknown names succeeds, opens no space, and leaves the last change to undo, %s',
  async (_way, open) => {
    await using sandbox = await open()
    const space = sandbox.space('a')
    await removeUnknown(space)
    expect(await space.remove()).toEqual({ removed: null })
    expect(await sandbox.spaces.list()).toEqual([])
    await space.pets.remove(1)
    for (const controls of [space, sandbox]) await removeUnknown(controls)
    expect(await space.undo()).toEqual({ undone: 'pets.remove' })
    expect(await sandbox.spaces.remove('a')).toEqual({ removed: 'a' })
  },
)
