import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeFolder, openReplacement, replaceFile } from '../../src/system/regular-file.js'
import { temporaryFolder } from '../support/temporary-files.js'

it('replaces a file at once, and leaves nothing else behind', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'report.json')
  writeFileSync(file, 'old')
  const { fd, commit } = openReplacement(file)
  writeFileSync(fd, 'new')
  expect(readFileSync(file, 'utf8')).toBe('old')
  commit()
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['report.json'])
})

it('removes what it has written if it fails', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'taken'))
  expect(() => replaceFile(join(folder, 'taken'), 'text')).toThrow('it is a folder, not a file')
  const { discard } = openReplacement(join(folder, 'discarded'))
  discard()
  expect(readdirSync(folder)).toEqual(['taken'])
})

it.each(['a file', 'nothing'])('does not follow a link to %s', (target) => {
  const folder = temporaryFolder()
  const elsewhere = join(temporaryFolder(), '.bashrc')
  if (target === 'a file') writeFileSync(elsewhere, 'mine')
  symlinkSync(elsewhere, join(folder, 'run.json'))
  expect(() => replaceFile(join(folder, 'run.json'), 'text')).toThrow('it is a symbolic link, not a file')
  expect(existsSync(elsewhere) && readFileSync(elsewhere, 'utf8')).toBe(target === 'a file' && 'mine')
})

it('does not write into a folder elsewhere that a link of the name of the own folder leads to', () => {
  const folder = temporaryFolder()
  const elsewhere = temporaryFolder()
  symlinkSync(elsewhere, join(folder, '.petstore-sandbox'))
  for (const path of ['.petstore-sandbox', '.petstore-sandbox/snapshots'])
    expect(() => makeFolder(join(folder, path))).toThrow('is a symbolic link, not a folder')
  expect(readdirSync(elsewhere)).toEqual([])
})
