import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-files.js'
import { Owner } from './owner.js'

it('acknowledges a change only when the new store is written', async () => {
  const file = join(temporaryFolder(), 'store.json')
  const owner = await Owner.open(file)
  const started = owner.store.start(() => owner.state)
  const isThere = owner
    .change({ kind: 'pet', pet: { id: 7, name: 'Early', categoryId: 1 } })
    .then(() => existsSync(file))
  expect(await isThere).toBe(true)
  await started
  await owner.store.close()
  const again = await Owner.open(file)
  expect(again.state).toEqual(owner.state)
  await again.store.close()
})
