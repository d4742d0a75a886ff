import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../support/temporary-files.js'
import { Owner, put, stateIn } from './owner.js'

/** Whether this process may mount, which takes root on Linux, and more than that in a container. */
const CAN_MOUNT = process.platform === 'linux' && spawnSync('unshare', ['--mount', 'true']).status === 0

function mountAlone(source: string, target: string): void {
  writeFileSync(target, '')
  expect(spawnSync('mount', ['--bind', source, target]).status).toBe(0)
  onTestFinished(() => void spawnSync('umount', [target]))
}

describe.runIf(CAN_MOUNT)('a store that is mounted as a single file', () => {
  it.each(['store.json', 'store.json.journal', 'store.json.lock'])('is refused: %s', async (name) => {
    const [elsewhere, folder] = [temporaryFolder(), join(temporaryFolder(), 'a folder \\ of one')]
    mkdirSync(folder)
    writeFileSync(join(elsewhere, 'file'), '')
    mountAlone(join(elsewhere, 'file'), join(folder, name))
    await expect(Owner.start(join(folder, 'store.json'))).rejects.toMatchObject({
      code: 'STORE_UNWRITABLE',
      message: `"${join(folder, name)}" is mounted as a single file, so the sandbox cannot replace it. Mount its folder instead ("${folder}").`,
    })
    expect(readdirSync(folder)).toEqual([name])
  })

  it('is used if its folder is mounted', async () => {
    const [elsewhere, folder] = [temporaryFolder(), temporaryFolder()]
    expect(spawnSync('mount', ['--bind', elsewhere, folder]).status).toBe(0)
    onTestFinished(() => void spawnSync('umount', [folder]))
    const owner = await Owner.start(join(folder, 'store.json'))
    owner.change(put({ id: 9, name: 'Kept', categoryId: 1 }))
    owner.store.close()
    expect(existsSync(join(elsewhere, 'store.json'))).toBe(true)
    expect(await stateIn(join(elsewhere, 'store.json'))).toEqual(owner.state)
  })
})
