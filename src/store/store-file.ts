import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { makeFolder } from '../system/make-folder.js'
import { refuseOthers } from '../system/regular-file.js'
import { syncFolder } from './sync-folder.js'

/** @source path_resolution(7): the limit of Linux itself */
const MOST_LINKS = 40

/**
 * Finds the canonical path of a store's file, which need not exist, and
 * creates its folder. Two names for one file lead to one store.
 *
 * @throws UnusableFile, before anything is written beside a device; whatever the system says
 */
export async function prepareStoreFile(file: string, fsync: boolean): Promise<string> {
  const target = followLinks(resolve(file))
  const there = lstatSync(target, { throwIfNoEntry: false })
  if (there !== undefined) refuseOthers(there)
  const folder = dirname(target)
  const firstCreated = makeFolder(folder)
  if (fsync && firstCreated !== undefined) {
    for (let created = folder; created.length >= firstCreated.length; created = dirname(created)) {
      await syncFolder(created)
    }
  }
  return join(realpathSync(folder), basename(target))
}

function followLinks(path: string): string {
  let target = path
  for (let links = 0; links < MOST_LINKS; links++) {
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) break
    target = resolve(dirname(target), readlinkSync(target))
  }
  return target
}
