import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageDirectory } from '../src/system/package-files.js'

// Records a terminal for the README: a client that retries too early, and one that waits. The output is real.
// Needs the build and curl.

const FILE = join(packageDirectory, 'docs/start.svg')
const COLUMNS = 100
const [CELL, LINE, MARGIN] = [7.8, 19, 16] as const

const LIST = 'curl -s -H "Authorization: Bearer $PETSTORE_API_KEY" "$PETSTORE_BASE_URL/pets" > pets.json'
const CLIENTS = { 'hasty.sh': `${LIST}\n${LIST}\n`, 'patient.sh': `${LIST.replace('-s', '-s --retry 3')}\n` }
const EXEC = "npx petstore-sandbox exec --fault 'listPets:429*1,retry-after=2s' --fail-on violation --"

interface Line {
  readonly text: string
  readonly kind: 'command' | 'output'
}

const lines: Line[] = []
const folder = mkdtempSync(join(tmpdir(), 'record-'))
try {
  for (const [name, code] of Object.entries(CLIENTS)) {
    writeFileSync(join(folder, name), code)
    type(`cat ${name}`)
    show(code)
    type(`${EXEC} sh ${name}; echo "exit code $?"`)
    const words = ['exec', '--fault', 'listPets:429*1,retry-after=2s', '--fail-on', 'violation', '--', 'sh', name]
    const done = spawnSync(process.execPath, [join(packageDirectory, 'bin/petstore-sandbox.js'), ...words], {
      cwd: folder,
      encoding: 'utf8',
    })
    show(`${done.stderr}exit code ${done.status}\n`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
writeFileSync(FILE, picture())
process.stdout.write(`${FILE}: ${lines.length} lines\n`)

function type(command: string): void {
  for (const text of wrapped(`$ ${command}`)) lines.push({ text, kind: 'command' })
}

function show(output: string): void {
  for (const text of output.trimEnd().split('\n').flatMap(wrapped)) lines.push({ text, kind: 'output' })
}

function wrapped(line: string): readonly string[] {
  const rows: string[] = []
  let rest = line
  while (rest.length > COLUMNS) {
    const end = rest.lastIndexOf(' ', COLUMNS)
    rows.push(rest.slice(0, end))
    rest = `  ${rest.slice(end + 1)}`
  }
  return [...rows, rest]
}

function picture(): string {
  const [width, height] = [COLUMNS * CELL + 2 * MARGIN, lines.length * LINE + 2 * MARGIN]
  const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')
  const rows = lines.map(({ text, kind }, row) => {
    const y = MARGIN + row * LINE + 14
    return `<text x="${MARGIN}" y="${y}" class="${kind}" xml:space="preserve">${escaped(text)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A client that retries too early fails the run; one that waits passes">
<style>
text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #d4d4d4 }
.command { fill: #8fd0ff }
</style>
<rect width="100%" height="100%" rx="8" fill="#1e1e1e"/>
${rows.join('\n')}
</svg>
`
}
