import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))

/** What almost every part builds on. */
const GROUND = ['options', 'domain', 'contract', 'system']
/** What a sandbox that runs consists of, as programs see it. */
const RUNNING = ['control', 'http', 'conduct', 'exchanges', 'drift', ...GROUND]

/** Every part of src/, a folder or a file at the top, from the bottom up, and the earlier parts that it may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  system: [],
  contract: ['system'],
  openapi: ['contract', 'system'],
  domain: ['contract'],
  advice: ['domain', 'contract'],
  drift: ['domain', 'contract'],
  exchanges: ['domain'],
  conduct: ['domain', 'contract', 'system'],
  core: ['conduct', 'exchanges', 'drift', 'domain', 'contract', 'system'],
  store: ['domain', 'contract', 'system'],
  options: ['domain', 'contract', 'system'],
  fixtures: ['options', 'domain', 'contract', 'system'],
  http: ['domain', 'system'],
  client: ['advice', 'drift', 'domain', 'contract', 'system'],
  control: ['core', 'conduct', 'exchanges', 'drift', 'advice', ...GROUND],
  web: ['control', 'conduct', 'drift', 'exchanges', 'advice', 'options', 'domain', 'contract'],
  executor: ['control', 'http', 'core', ...GROUND],
  replication: ['executor', 'control', 'http', 'store', 'core', ...GROUND],
  start: [
    'replication',
    'executor',
    'control',
    'http',
    'client',
    'fixtures',
    'store',
    'core',
    'conduct',
    'exchanges',
    'openapi',
    ...GROUND,
  ],
  api: ['start', 'client', ...RUNNING],
  browser: ['api', 'start', 'control', 'conduct', 'exchanges', 'openapi', ...GROUND],
  msw: ['api'],
  matchers: ['api', 'conduct', 'exchanges', 'contract'],
  vitest: ['matchers', 'api', 'control', 'options', 'domain', 'system'],
  playwright: ['api', 'options'],
  index: ['api', 'control', 'conduct', 'exchanges', 'drift', 'options', 'domain', 'contract'],
  cli: ['start', 'api', 'client', 'fixtures', 'openapi', 'advice', ...RUNNING],
}

/** Each outside thing has one door. */
const DOORS: readonly { readonly what: RegExp; readonly door: RegExp }[] = [
  { what: /^@stoplight\/prism-http/, door: /^contract\/prism\.ts$/ },
  { what: /^lowdb/, door: /^store\// },
  { what: /^(commander|chalk)$/, door: /^cli\// },
  { what: /^undici$/, door: /^client\// },
  { what: /^hono/, door: /^control\// },
  { what: /^valibot$/, door: /^(?:(options|control|fixtures|store|client)[/.]|domain\/schemas\.ts$)/ },
  { what: /^(preact|@preact\/)/, door: /^web\// },
  { what: /^ioredis/, door: /^replication\/redis\.ts$/ },
  { what: /^node:https?$/, door: /^(http\/|start\/sandbox\.ts$|client\/control-request\.ts$)/ },
  { what: /^@playwright\/test$/, door: /^playwright\/index\.ts$/ },
  { what: /^msw$/, door: /^msw\/index\.ts$/ },
  { what: /^@noble\/hashes/, door: /^system\/runtime\.browser\.ts$/ },
]

/** What no rule may depend on: the machine's clock, chance, timers, waiting. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bset(Timeout|Interval|Immediate)\b|\basync\b|\bawait\b|\bprocess\./

/** Where that holds. */
const PURE = /^(?:domain|core|conduct|exchanges|drift)\//

/** The only modules that may use each outside thing. */
const OUTSIDE =
  /^(?:system\/(?:this-process|regular-file|system-clock)\.|(?:api|cli|client|http|executor|replication|start|store)\/)/

interface Source {
  /** Relative to src/, with forward slashes. */
  readonly file: string
  readonly text: string
  readonly imports: readonly string[]
}

const SOURCES: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.includes('generated'))
  .map((file) => {
    const text = readFileSync(join(SRC, file), 'utf8')
    const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => String(match[1]))
    return { file: file.split(sep).join('/'), text, imports }
  })

function partOf(file: string): string {
  return (file.includes('/') ? file.split('/')[0] : file.replace(/(?:\.browser)?\.[jt]s$/, '')) ?? file
}

/** The part that an import leads to, undefined for a package. */
function importedPart({ file }: Source, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return partOf(
    relative(SRC, join(SRC, dirname(file), specifier))
      .split(sep)
      .join('/'),
  )
}

describe('the architecture', () => {
  it('has imports go down only', () => {
    const astray = SOURCES.flatMap((source) => {
      const part = partOf(source.file)
      const allowed = MAY_IMPORT[part] ?? []
      return source.imports
        .map((specifier) => importedPart(source, specifier))
        .filter((to) => to !== undefined && to !== part && !allowed.includes(to))
        .map((to) => `${source.file} imports ${to}`)
    })
    expect(astray).toEqual([])
  })

  it('has parts that build on those before them', () => {
    const parts = Object.keys(MAY_IMPORT)
    const upward = parts.flatMap((part, place) =>
      (MAY_IMPORT[part] ?? []).filter((to) => parts.indexOf(to) >= place).map((to) => `${part} may import ${to}`),
    )
    expect(upward).toEqual([])
  })

  it('knows every folder and every file at the top of src/', () => {
    expect([...new Set(SOURCES.map(({ file }) => partOf(file)))].sort()).toEqual(Object.keys(MAY_IMPORT).sort())
  })

  it('has no file that imports itself through others', () => {
    expect(SOURCES.filter((source) => reachableFrom(source).has(source.file)).map(({ file }) => file)).toEqual([])
  })

  it('has one door for each outside thing', () => {
    const astray = SOURCES.flatMap(({ file, imports }) =>
      imports.flatMap((specifier) =>
        DOORS.filter(({ what, door }) => what.test(specifier) && !door.test(file)).map(
          () => `${file} imports ${specifier}`,
        ),
      ),
    )
    expect(astray).toEqual([])
  })

  it.each([
    [
      'writes to the terminal or the log',
      /\bstd(?:out|err)\.write\(|\bstream\.write\(/,
      ['cli/line-writer.ts', 'cli/print.ts'],
    ],
    [
      'reads the wall clock, once for Node and once for browsers,',
      /\bDate\.now\b|\bnew Date\(\)/,
      ['system/system-clock.browser.ts', 'system/system-clock.ts'],
    ],
    [
      "opens files without waiting for a FIFO or a device, but for the package's own description",
      /\b((?:read|append)File(?:Sync)?|openSync|create(?:Read|Write)Stream)\b/,
      ['system/package-files.ts', 'system/regular-file.ts'],
    ],
    ['makes folders, which never hangs in /proc', /\bmkdir(Sync)?\(/, ['system/regular-file.ts']],
  ])('%s in one place', (_what, does, files) => {
    const found = SOURCES.filter(({ text }) => does.test(withoutComments(text))).map(({ file }) => file)
    expect(found.sort()).toEqual(files)
  })

  it('keeps the rules and the machine pure: no clock, chance, timer or waiting', () => {
    const impure = SOURCES.filter(({ file, text }) => PURE.test(file) && IMPURE.test(withoutComments(text)))
    expect(impure.map(({ file }) => file)).toEqual([])
  })

  it('has a core that reaches no clock, chance, file or socket, whatever the verb', () => {
    const entries = SOURCES.filter(({ file }) => /^(?:core\/spaces|control\/apply-verb)\.ts$/.test(file))
    expect(entries).toHaveLength(2)
    const reached = new Set(entries.flatMap((entry) => [...reachableFrom(entry, filesAtRunTime)]))
    expect(reached.size).toBeGreaterThan(100)
    expect([...reached].filter((file) => OUTSIDE.test(file))).toEqual([])
  })

  it('has a half for browsers that imports no module of Node', () => {
    const entries = SOURCES.filter(({ file }) => /^(?:browser|msw)\//.test(file))
    const half = new Set(entries.flatMap((entry) => [entry.file, ...reachableFrom(entry, inBrowser)]))
    expect(half.size).toBeGreaterThan(100)
    const asked = SOURCES.filter(({ file }) => half.has(file)).flatMap(({ file, imports }) =>
      imports.filter((specifier) => isBuiltin(specifier)).map((specifier) => `${file} imports ${specifier}`),
    )
    expect(asked).toEqual([])
    // What they use without an import, such as Buffer, is a mistake to `tsc -p src/browser`, which knows no Node.
    expect([...half].filter((file) => TWINS.has(file.replace(/\.ts$/, '.browser.ts')))).toEqual([])
  })

  it('has a file for Node beside each one for browsers', () => {
    const files = SOURCES.map(({ file }) => file)
    expect([...TWINS].filter((twin) => !files.includes(twin.replace('.browser.ts', '.ts')))).toEqual([])
  })
})

/** Files that a file needs, directly or through others. */
function reachableFrom(source: Source, filesOf = importedFiles): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [source]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const file of filesOf(next)) {
      if (reached.has(file)) continue
      reached.add(file)
      const found = SOURCES.find((one) => one.file === file)
      if (found !== undefined) open.push(found)
    }
  }
  return reached
}

/** What a file imports but for types, which are gone when it runs. */
function filesAtRunTime({ file, text }: Source): readonly string[] {
  const imports = [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gms)].map(([, from = '']) => from)
  return importedFiles({ file, text, imports })
}

function importedFiles({ file, imports }: Source): readonly string[] {
  return imports
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(file), specifier).replace(/\.js$/, ''))
    .map((name) => SOURCES.find((one) => one.file.replace(/\.tsx?$/, '') === name)?.file)
    .filter((found) => found !== undefined)
}

/** Files that stand in the place of others in a browser. */
const TWINS: ReadonlySet<string> = new Set(
  SOURCES.map(({ file }) => file).filter((file) => file.endsWith('.browser.ts')),
)

function inBrowser(source: Source): readonly string[] {
  return importedFiles(source).map((file) => {
    const twin = file.replace(/\.tsx?$/, '.browser.ts')
    return TWINS.has(twin) ? twin : file
  })
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}
