import { isAscii } from 'node:buffer'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { builtImports } from '../support/built-imports.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** Modules that `serve` always loads: its entry, its command, and the sandbox. */
const LOADED = ['src/cli/main.ts', 'src/cli/serve.ts', 'src/sandbox.ts']
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
  expect([...new Set(packages)].sort()).toEqual(['commander', 'lowdb', 'lowdb/node', 'valibot'])
})

it('serve reads three files of dist, and none of a package', async () => {
  const imports = await builtImports(['cli.js'])
  const files = ['cli.js']
  for (const file of files) {
    for (const { name, isFile, isLater } of imports.get(file) ?? []) {
      if (isLater || files.includes(name)) continue
      expect(isFile || isBuiltin(name), name).toBe(true)
      if (isFile) files.push(name)
    }
  }
  expect(files).toEqual(['cli.js', expect.stringMatching(CHUNK), expect.stringMatching(CHUNK)])
  // With one character beyond ASCII, V8 reads two bytes for each, and a start takes milliseconds longer.
  for (const file of files) expect(isAscii(readFileSync(join(packageDirectory, 'dist', file))), file).toBe(true)
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
const SLOW = [
  'crypto',
  'perf_hooks',
  'internal/util/parse_args/parse_args',
  'timers/promises',
  'readline',
  'worker_threads',
]

const READY = /"baseUrl":"([^"]+)"/

/** Node's modules that a server has loaded by its first response. */
async function loadedBy(args: readonly string[], cwd: string): Promise<ReadonlySet<string>> {
  const child = spawn(process.execPath, ['--import', TELL, ...args], { cwd, env: { PATH: process.env.PATH } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  while (!READY.test(said)) said += String(await once(child.stderr, 'data'))
  const response = await fetch(`${READY.exec(said)?.[1]}/pets`, { headers: { Authorization: 'Bearer sandbox' } })
  expect(response.status).toBe(200)
  child.kill('SIGUSR2')
  let list = ''
  while (!list.endsWith(';\n')) list += String(await once(child.stdout, 'data'))
  return new Set(list.split(/[,;]/).flatMap((entry) => /^NativeModule (.*)$/.exec(entry)?.[1] ?? []))
}

it.each(['--in-memory', '--reset'])("serve %s responds without loading Node's slow modules", async (flag) => {
  const folder = temporaryFolder()
  const bareServer = join(folder, 'bare.mjs')
  writeFileSync(bareServer, BARE_SERVER)
  const bare = await loadedBy([bareServer], folder)
  const ours = await loadedBy([join(packageDirectory, 'bin/petstore-sandbox.js'), 'serve', '--port', '0', flag], folder)
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

async function filesLoadedBy(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const args = [join(packageDirectory, 'bin/petstore-sandbox.js'), 'serve', '--port', '0', '--in-memory']
  const child = spawn(process.execPath, ['--import', TELL_FILES, ...args], {
    cwd: temporaryFolder(),
    env: { PATH: process.env.PATH, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const loaded = child.stdout.toArray()
  let said = ''
  while (!READY.test(said)) said += String(await once(child.stderr, 'data'))
  child.kill('SIGKILL')
  return Buffer.concat(await loaded)
    .toString()
    .trim()
    .split(' ')
}

it('serve loads the exporter of spans only if the environment names a collector', async () => {
  const plain = await filesLoadedBy({})
  expect(plain).toEqual(['cli.js', expect.stringMatching(CHUNK), expect.stringMatching(CHUNK)])
  const traced = await filesLoadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })
  expect(traced).toEqual([...plain, expect.stringMatching(/^span-exporter-\w+\.js$/)])
})
