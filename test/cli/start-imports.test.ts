import { isAscii } from 'node:buffer'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { start, startProgram } from './built.js'
import { get } from './test-io.js'

/** Modules that `serve` always loads: its entry, its command, and the sandbox. */
const LOADED = ['src/cli/main.ts', 'src/cli/serve.ts', 'src/start/sandbox.ts']
const CHUNK = /^chunk-\w+\.js$/

/** Packages that a file and its imports load at once; types and `import()` load none. */
function packagesOf(file: string, seen = new Set<string>(), found = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return found
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, what = '', specifier = ''] of text.matchAll(/^(?:import|export) ([^;]*?)from '([^']+)'/gms)) {
    if (what.startsWith('type ')) continue
    if (specifier.startsWith('.')) packagesOf(sourceOf(join(dirname(file), specifier)), seen, found)
    else if (!specifier.startsWith('node:')) found.add(specifier)
  }
  return found
}

/** Generated files are JavaScript already. */
function sourceOf(file: string): string {
  return existsSync(file) ? file : file.replace(/\.js$/, '.ts')
}

it('serve starts without loading YAML, colours, Prism and ajv', () => {
  const packages = LOADED.flatMap((file) => [...packagesOf(join(packageDirectory, file))])
  expect([...new Set(packages)].sort()).toEqual(['commander', 'lowdb', 'valibot'])
})

/** Tells on SIGUSR2 which of Node's modules are loaded. */
const TELL = 'data:text/javascript,process.once("SIGUSR2",()=>console.log(process.moduleLoadList.join()+";"))'
const BARE_SERVER = `
  import 'node:fs'
  import { createServer } from 'node:http'
  const server = createServer((request, response) => response.end())
  server.listen(0, '127.0.0.1', () => console.error(JSON.stringify({ baseUrl: 'http://127.0.0.1:' + server.address().port })))
`

/** They take from a third of a millisecond (timers/promises) to three (crypto). */
const SLOW = 'crypto perf_hooks internal/util/parse_args/parse_args timers/promises readline worker_threads'.split(' ')

const READY = /"baseUrl":"([^"]+)"/

/** Node's modules that a server has loaded by its first response. */
async function loadedBy({ child, stdout, stderr }: ReturnType<typeof start>): Promise<ReadonlySet<string>> {
  const [, baseUrl = ''] = await stderr.seen(READY)
  expect((await get({ baseUrl }, '/pets')).status).toBe(200)
  child.kill('SIGUSR2')
  await stdout.seen(/;\n$/)
  return new Set(stdout.text.split(/[,;]/).flatMap((entry) => /^NativeModule (.*)$/.exec(entry)?.[1] ?? []))
}

it.each(['--in-memory', '--reset'])("serve %s responds without loading Node's slow modules", async (flag) => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'bare.mjs'), BARE_SERVER)
  const env = { PATH: process.env.PATH }
  const bare = await loadedBy(startProgram(process.execPath, ['--import', TELL, 'bare.mjs'], { cwd, env }))
  const ours = await loadedBy(start(['serve', '--port', '0', flag], { node: ['--import', TELL] }))
  expect(SLOW.filter((name) => ours.has(name) && !bare.has(name))).toEqual([])
})

/** Writes the name of each file of dist that is loaded. */
const FILE_TELLER = `
  import { writeSync } from 'node:fs'
  export const load = (url, context, next) => {
    if (url.includes('/dist/')) writeSync(1, url.split('/').at(-1) + ' ')
    return next(url, context)
  }`
const asModule = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`
const TELL_FILES = asModule(
  `import { register } from 'node:module'; register(${JSON.stringify(asModule(FILE_TELLER))})`,
)

it('serve loads three files of dist', async () => {
  const argv = ['serve', '--port', '0', '--in-memory']
  const { child, stdout, stderr, ended } = start(argv, { node: ['--import', TELL_FILES] })
  await stderr.seen(READY)
  child.kill('SIGKILL')
  await ended
  const files = stdout.text.trim().split(' ')
  expect(files).toEqual(['cli.js', expect.stringMatching(CHUNK), expect.stringMatching(CHUNK)])
  for (const file of files) {
    const content = readFileSync(join(packageDirectory, 'dist', file))
    // With one character beyond ASCII, V8 reads two bytes for each, and a start takes milliseconds longer.
    expect(isAscii(content), file).toBe(true)
    // An import of node:http reads all its exports, of which one loads the whole of Node's fetch.
    expect(String(content), file).not.toMatch(/\b(?:from|import)\s*["']node:/)
  }
})
