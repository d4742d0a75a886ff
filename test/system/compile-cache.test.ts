import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { openCompileCache } from '../../src/system/compile-cache.js'
import { temporaryFolder } from '../support/temporary-files.js'

describe.skipIf(process.platform === 'win32')('the folder for compiled code', () => {
  it('is made in the cache folder of the user, for them alone', () => {
    const root = join(realpathSync(temporaryFolder()), 'cache')
    const folder = openCompileCache({ XDG_CACHE_HOME: root }, '1.2.3')
    expect(folder).toBe(join(root, 'petstore-sandbox/1.2.3'))
    for (const made of [folder, dirname(String(folder)), root]) expect(statSync(String(made)).mode & 0o777).toBe(0o700)
    expect(openCompileCache({ XDG_CACHE_HOME: root }, '1.2.3')).toBe(folder)
  })

  it('is in the home without XDG_CACHE_HOME, which counts only if it is absolute', () => {
    const home = realpathSync(temporaryFolder())
    vi.stubEnv('HOME', home)
    const folder = join(home, process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'petstore-sandbox/1.2.3')
    expect(openCompileCache({}, '1.2.3')).toBe(folder)
    expect(openCompileCache({ XDG_CACHE_HOME: 'relative' }, '1.2.3')).toBe(folder)
    vi.stubEnv('HOME', 'relative')
    expect(openCompileCache({}, '1.2.3')).toBeUndefined()
    vi.unstubAllEnvs()
    expect(existsSync('relative')).toBe(false)
  })

  it.each(['.', 'cache', 'cache/petstore-sandbox', 'cache/petstore-sandbox/1.2.3'])(
    'is not used if others may write to %s',
    (open) => {
      const above = temporaryFolder()
      const env = { XDG_CACHE_HOME: join(above, 'cache') }
      mkdirSync(join(above, 'cache/petstore-sandbox/1.2.3'), { recursive: true, mode: 0o755 })
      for (const mode of [0o775, 0o757]) {
        chmodSync(join(above, open), mode)
        expect(openCompileCache(env, '1.2.3')).toBeUndefined()
      }
      chmodSync(join(above, open), 0o755)
      expect(openCompileCache(env, '1.2.3')).toBeDefined()
    },
  )

  it('is not made where others may write', () => {
    const above = temporaryFolder()
    chmodSync(above, 0o777)
    expect(openCompileCache({ XDG_CACHE_HOME: join(above, 'cache') }, '1.2.3')).toBeUndefined()
    expect(existsSync(join(above, 'cache'))).toBe(false)
  })

  it.runIf(process.geteuid?.() === 0).each(['.', 'cache', 'cache/petstore-sandbox', 'cache/petstore-sandbox/1.2.3'])(
    'is not used if another user owns %s',
    (owned) => {
      const above = temporaryFolder()
      mkdirSync(join(above, 'cache/petstore-sandbox/1.2.3'), { recursive: true, mode: 0o755 })
      chownSync(join(above, owned), 65534, 65534)
      expect(openCompileCache({ XDG_CACHE_HOME: join(above, 'cache') }, '1.2.3')).toBeUndefined()
    },
  )

  it('is not used through a link below the cache folder, and is found where a link to the cache folder leads', () => {
    const [elsewhere, root] = [realpathSync(temporaryFolder()), temporaryFolder()]
    symlinkSync(elsewhere, join(root, 'petstore-sandbox'))
    expect(openCompileCache({ XDG_CACHE_HOME: root }, '1.2.3')).toBeUndefined()
    symlinkSync(elsewhere, join(root, 'link'))
    const folder = openCompileCache({ XDG_CACHE_HOME: join(root, 'link') }, '1.2.3')
    expect(folder).toBe(join(elsewhere, 'petstore-sandbox/1.2.3'))
  })

  it('removes the folders of older versions when it is made', () => {
    const root = temporaryFolder()
    const folderOf = (version: string) => String(openCompileCache({ XDG_CACHE_HOME: root }, version))
    const [newer, older] = [folderOf('1.10.0'), folderOf('1.9.0')]
    writeFileSync(join(older, 'code'), '')
    const folder = folderOf('1.9.1')
    expect([newer, older, folder].map((path) => existsSync(path))).toEqual([true, false, true])
  })
})
