import { mkdirSync, readdirSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runBuilt } from '../cli/built.js'
import { temporaryFolder } from '../support/temporary-files.js'

it.skipIf(!('enableCompileCache' in module))(
  'keeps no compiled code where another user may have put some',
  async () => {
    const [temporary, cache, chosen] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
    mkdirSync(join(temporary, 'node-compile-cache'))
    const env = { TMPDIR: temporary, XDG_CACHE_HOME: cache }
    expect(await runBuilt(['--version'], { env })).toMatchObject({ code: 0, err: '' })
    expect(readdirSync(cache)).toEqual(['petstore-sandbox'])
    const other = { ...env, XDG_CACHE_HOME: temporaryFolder(), NODE_COMPILE_CACHE: chosen }
    expect(await runBuilt(['--version'], { env: other })).toMatchObject({ code: 0, err: '' })
    expect([readdirSync(chosen).length, readdirSync(other.XDG_CACHE_HOME)]).toEqual([1, []])
    expect(readdirSync(join(temporary, 'node-compile-cache'))).toEqual([])
  },
)
