import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createSandbox } from '../src/api/start.js'
import { packageDirectory } from '../src/system/package-files.js'
import { type Document, documentsIn, firstCellsOf, plain, readDocument, sectionsOf } from './support/documents.js'

/** What `@source` may name besides our own documents and RFCs. */
const OTHER_SOURCES = `Apache HTTP Server, AWS Architecture Blog, class-validator, commander, coreutils, ECMA-48,
  Fetch Metadata Request Headers, Fetch standard, force-color.org, gitignore(5), HAR 1.2, HTML standard,
  Microsoft, nginx, no-color.org, Node.js, OpenAPI specification, OpenAPI format registry, path_resolution(7),
  Private Network Access, proc(5), ps(1), pydantic, termios(3), xterm control sequences, XDG Base Directory Specification,
  W3C Baggage, google.aip.dev`.split(/,\s+/)

/** The parts of a citation in our own documents: file, heading or row, and the number of a list item. */
const OWN_SOURCE = /^(docs\/[\w/-]+\.md), "([^"]+)"(?:, (\d+))?(?=$|: )/
const RFC = /^RFC \d{4,}(?:, section \d+(?:\.\d+)*)?(?=$|: )/
const SOURCE_TAG = /@source\s+(.*?)\s*(?:\*\/|$)/gm

/** The anchors that GitHub gives to headings. */
function anchorsOf(document: Document): ReadonlySet<string> {
  return new Set([...sectionsOf(document).keys()].map((heading) => anchorOf(heading)))
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

const DOCUMENTS = [readDocument('README.md'), ...documentsIn('docs', /\.md$/)]
const CODE = ['src', 'scripts', 'test']
  .filter((folder) => existsSync(join(packageDirectory, folder)))
  .flatMap((folder) => documentsIn(folder, /\.(?:tsx?|mts|js)$/))
  .filter(({ file }) => !file.endsWith('docs.test.ts'))

/** The problem of one citation, undefined if it is valid. */
function problemOf(source: string): string | undefined {
  const [, file = '', name = '', item] = OWN_SOURCE.exec(source) ?? []
  if (file !== '') {
    const document = DOCUMENTS.find((one) => one.file === file)
    if (document === undefined) return `there is no ${file}`
    const section = sectionsOf(document).get(plain(name))
    if (section === undefined && !firstCellsOf(document).has(plain(name)))
      return `${file} has no heading or row "${name}"`
    if (item !== undefined && !new RegExp(`^${item}\\. `, 'm').test(section ?? ''))
      return `"${name}" has no item ${item}`
    return undefined
  }
  if (RFC.test(source)) return undefined
  const isKnown = OTHER_SOURCES.some((known) => source.startsWith(known))
  return isKnown ? undefined : 'neither a document of ours, an RFC, nor a source listed in this test'
}

it('a @source names a heading or a row of a document of ours, an RFC, or a listed standard', () => {
  const astray = CODE.flatMap(({ file, text }) =>
    [...text.matchAll(SOURCE_TAG)].flatMap(([, citation = '']) =>
      citation.split('; ').flatMap((source) => {
        const problem = problemOf(source)
        return problem === undefined ? [] : [`${file}: @source ${source}: ${problem}`]
      }),
    ),
  )
  expect(astray).toEqual([])
})

describe('the documents', () => {
  it('have links that lead somewhere', () => {
    const all = [
      ...DOCUMENTS,
      ...['CONTRIBUTING.md', 'src/README.md', 'test/README.md', 'CHANGELOG.md'].map(readDocument),
    ]
    const broken = all.flatMap((document) =>
      linksIn(document)
        .filter((target) => !leadsSomewhere(document, target))
        .map((target) => `${document.file}: ${target}`),
    )
    expect(broken).toEqual([])
  })

  it('name files of the source that are there', () => {
    const guides = [readDocument('src/README.md'), ...documentsIn('docs', /\.md$/)]
    const gone = guides.flatMap(({ file, text }) =>
      [...text.matchAll(/(?:^ +|`)((?:[a-z-]+\/)+[a-z-]+\.tsx?)(?= |`|:)/gm)]
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(join(packageDirectory, 'src', path)) && !existsSync(join(packageDirectory, path)))
        .map((path) => `${file}: ${path}`),
    )
    expect(gone).toEqual([])
  })

  it('have every decision in the index', () => {
    const index = readDocument('docs/decisions/README.md').text
    const missing = documentsIn('docs/decisions', /\d{4}-.*\.md$/).filter(
      ({ file, text }) => !index.includes(`(${file.split('/').at(-1)}) | ${text.slice(2, text.indexOf('\n'))} |`),
    )
    expect(missing.map(({ file }) => file)).toEqual([])
  })

  it('are in the index', () => {
    const pages = documentsIn('docs', /^docs\/[^/]+\.md$/).map(({ file }) => file.slice('docs/'.length))
    const index = readDocument('docs/README.md').text
    const rows = [...index.matchAll(/^- \[([\w-]+\.md)\]\(\1\): /gm)].map(([, page]) => page)
    expect([...rows, 'README.md'].sort()).toEqual([...pages].sort())
  })

  it('begin with a README of 130 lines at most', () => {
    expect(readDocument('README.md').text.split('\n').length - 1).toBeLessThanOrEqual(130)
  })

  it('have a skill for agents, in the open format and of at most 1,500 tokens', () => {
    const { text } = readDocument('skills/petstore-sandbox/SKILL.md')
    const [, head = '', body = ''] = /^---\n(.*?)^---\n(.*)$/ms.exec(text) ?? []
    expect(parse(head)).toEqual({ name: 'petstore-sandbox', description: expect.stringMatching(/^.{50,1024}$/) })
    expect(body.match(/^## /gm)).toHaveLength(5)
    // A token of English and code has three characters or more, on average.
    expect(text.length).toBeLessThanOrEqual(1500 * 3)
  })

  it('are in the package, with all that they link to', () => {
    const { files }: { readonly files: readonly string[] } = JSON.parse(
      readFileSync(join(packageDirectory, 'package.json'), 'utf8'),
    )
    const shipped = [...files, 'README.md', 'LICENSE', 'package.json']
    const missing = DOCUMENTS.flatMap((document) =>
      linksIn(document)
        .map((target) => pathOf(document, target))
        .filter((path) => !shipped.some((one) => path === one || path.startsWith(`${one}/`)))
        .map((path) => `${document.file}: ${path}`),
    )
    expect(missing).toEqual([])
  })
})

/** Targets of its links to files and headings of ours. */
function linksIn({ text }: Document): readonly string[] {
  const prose = text.replace(/^```.*?^```/gms, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
}

/** The file that a link leads to, relative to the package's folder. */
function pathOf({ file }: Document, target: string): string {
  const [path = ''] = target.split('#')
  if (path === '') return file
  return relative('.', join(dirname(file), path))
    .split(sep)
    .join('/')
}

function leadsSomewhere(document: Document, target: string): boolean {
  const there = pathOf(document, target)
  if (!existsSync(join(packageDirectory, there))) return false
  const anchor = target.split('#')[1]
  return anchor === undefined || anchorsOf(readDocument(there)).has(anchor)
}

/** The pages in the package, with their questions, from docs/README.md. @source llmstxt.org */
function llmsText(): string {
  const { files }: { files: readonly string[] } = JSON.parse(readDocument('package.json').text)
  const [title = '', summary = ''] = readDocument('README.md').text.split('\n\n')
  const isPacked = (name: string) =>
    !files.some((entry) => entry.startsWith('!') && `docs/${name}`.startsWith(entry.slice(1)))
  const links = [...readDocument('docs/README.md').text.matchAll(/^- \[.*\]\((.*?)\): (.*)$/gm)].flatMap(
    ([, name = '', question]) => (isPacked(name) ? [`- [${name}](docs/${name}): ${question}`] : []),
  )
  return `${title}

> ${summary.replaceAll('\n', ' ')}

For coding agents: [SKILL.md](skills/petstore-sandbox/SKILL.md). A running sandbox serves these pages under \`/__sandbox/\`.

## Docs

- [README.md](README.md): What is it for? How do I start it?
${links.join('\n')}
`
}

describe('llms.txt', () => {
  it('lists the pages in the package: `npm test -- test/docs.test.ts -u` writes it anew', async () => {
    await expect(llmsText()).toMatchFileSnapshot(join(packageDirectory, 'llms.txt'))
  })

  it('is served with the pages that it links to', async () => {
    await using sandbox = await createSandbox()
    const get = (path: string) => sandbox.fetch(new Request(new URL(path, 'http://localhost/__sandbox/')))
    const list = await (await get('llms.txt')).text()
    expect(list).toBe(llmsText())
    for (const [, path = ''] of list.matchAll(/\]\((.*?)\)/g)) {
      const response = await get(path)
      expect([path, await response.text()]).toEqual([path, readDocument(path).text])
      expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    }
    for (const path of ['docs/none.md', 'docs/%2e%2e/package.json', 'docs/decisions/README.md', 'package.json'])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })
})
