import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/domain/settings.js'
import type { Snapshot } from '../../src/domain/state.js'
import { SnapshotFolder } from '../../src/store/snapshot-folder.js'
import { folderWith } from '../options/context.js'

it('reads a snapshot of an earlier release, with early requests and without senders', async () => {
  const now = Date.parse('2026-03-01T12:00:00Z')
  const wait = { from: now, until: now + 60_000 }
  const ban = wait
  const earlier = {
    version: 1,
    state: { nextPetId: 1, pets: [], orders: [], keys: [] },
    settings: DEFAULT_SETTINGS,
    clock: { now, frozen: true },
    storm: null,
    faults: [],
    accounts: [{ kind: 'key', name: 'sandbox', usage: {}, bans: { wait, early: [[wait]], allCount: wait, ban } }],
    dice: { storm: 0, faults: 0, latency: 0 },
  }
  const snapshots = new SnapshotFolder(folderWith({}))
  await snapshots.put('earlier', earlier as Snapshot)
  expect(await snapshots.get('earlier')).toEqual({ ...earlier, accounts: [{ ...earlier.accounts[0], bans: { ban } }] })
})
