import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../src/system/package-files.js'
import { PYTHON } from './support/python.js'
import { temporaryFolder } from './support/temporary-files.js'
import { requireTool } from './support/tools.js'

const BIN = join(packageDirectory, 'bin/petstore-sandbox.js')
const MAX_FIXTURE_LINES = 40

/** The files of docs/other-languages.md whose first line is a comment with their name. */
const FILES = new Map(
  [
    ...readFileSync(join(packageDirectory, 'docs/other-languages.md'), 'utf8').matchAll(
      /^```\w+ no-run: [^\n]*\n(?:#|\/\/) (\S+)\n(.*?)^```$/gms,
    ),
  ].map(([, name = '', text = '']) => [name, text]),
)
/** Tests with equal names, and with names that no space can have. Each prints the name of its space. */
const NAMES = {
  'test_names.py': `import pytest
@pytest.mark.parametrize("x", ["a=b", "é" * 90])
def test_one_failure(sandbox, x): print("space", sandbox.name)
`,
  'test_others.py': `def test_one_failure(sandbox): print("space", sandbox.name)
class TestOthers:
    def test_one_failure(self, sandbox): print("space", sandbox.name)
`,
  'names_test.go': `package shop
import "fmt"
import "strings"
import "testing"
func TestNames(t *testing.T) {
	for _, name := range []string{"a=b", "a=b", "a/b", strings.Repeat("é", 90)} {
		t.Run(name, func(t *testing.T) { fmt.Println("space", openSpace(t).Name) })
	}
}
`,
}
const spacesIn = (printed: string) => new Set(printed.match(/(?<=space )[A-Za-z0-9._-]{1,64}$/gm))

const FIXTURES = ['conftest.py', 'sandbox_test.go', 'SandboxSpace.java']

/** Runs a test command under `exec`. @returns what it has printed */
async function runUnderExec(files: readonly string[], ...command: readonly string[]): Promise<string> {
  const cwd = temporaryFolder()
  for (const name of files) writeFileSync(join(cwd, name), FILES.get(name) ?? Object(NAMES)[name])
  writeFileSync(join(cwd, 'go.mod'), 'module shop\n')
  const env = { ...process.env, GOCACHE: join(cwd, 'cache'), GOFLAGS: '-mod=mod' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [BIN, 'exec', '--', ...command], { cwd, env })
  return stdout + stderr
}

const HAS_PYTEST = requireTool('pytest', () => spawnSync(PYTHON, ['-c', 'import pytest']).status === 0)
const HAS_GO = requireTool('Go', () => spawnSync('go', ['version']).status === 0)
const HAS_CURL = requireTool('curl', () => spawnSync('curl', ['--version']).status === 0)

/** What java.net.http adds to each request without TLS: it offers HTTP/2. */
const OFFER = `-H 'Connection: Upgrade, HTTP2-Settings' -H 'Upgrade: h2c' -H 'HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA'`

/** Spaces as the fixture names them, and curl with the headers and the body as its library sends them. */
const CLIENTS = [['JUnit', 'oneFailure-1a2b3c4d', `curl ${OFFER}`, `-H 'Content-Type:' --data-raw "$3"`]] as const

describe('the fixtures for other languages in docs/other-languages.md', () => {
  it.each(FIXTURES)('have 40 lines at most and make the same requests, %s', (name) => {
    const text = FILES.get(name) ?? ''
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    expect(lines.length).toBeGreaterThan(10)
    expect(lines.length).toBeLessThanOrEqual(MAX_FIXTURE_LINES)
    expect(
      [...text.matchAll(/"(POST|DELETE)", f?"(\/\w+)/g)].map(([, method, path]) => `${method} ${path}`).sort(),
    ).toEqual(['DELETE /spaces', 'POST /reset'])
    for (const word of ['PETSTORE_SANDBOX_URL', '?space=', 'sandbox-']) expect(text).toContain(word)
  })

  it.skipIf(!HAS_PYTEST)('open a space, add a failure and read conduct in pytest', async () => {
    const printed = await runUnderExec(['conftest.py', 'test_shop.py'], PYTHON, '-m', 'pytest', '-q')
    expect(printed).toContain('1 passed')
    expect(printed).toMatch(/conduct: no violations/)
  })

  it.skipIf(!HAS_PYTEST)('open a space of its own for each test in pytest', async () => {
    const files = ['conftest.py', 'test_names.py', 'test_others.py']
    expect(spacesIn(await runUnderExec(files, PYTHON, '-m', 'pytest', '-q', '-s')).size).toBe(4)
  })

  it.skipIf(!HAS_CURL).each(CLIENTS)('make requests that the sandbox accepts, %s', async (_name, space, curl, body) => {
    const script = `
      control() { ${curl} -sS --fail-with-body -X "$1" ${body} "$PETSTORE_SANDBOX_URL$2?space=${space}"; }
      list() { ${curl} -sS -o pets -w '%{http_code} ' -H 'Authorization: Bearer sandbox-free~${space}' "$PETSTORE_BASE_URL/pets"; }
      set -e
      control POST /reset ''
      control POST /faults '{"operation": "listPets", "fault": 503, "times": 1}'
      echo && list && list && echo
      control GET /conduct ''
      control DELETE '/spaces/${space}' ''
      echo && curl -sS "$PETSTORE_SANDBOX_URL/spaces"`
    const [, statuses, conduct, left] = (await runUnderExec([], 'sh', '-c', script)).split('\n')
    expect(statuses).toBe('503 200 ')
    expect(conduct).toContain('"violations":[]')
    expect(conduct).toContain(`{"removed":"${space}"}`)
    expect(left).toMatch(/^\[\]/)
  })

  it.skipIf(!HAS_GO)('do so in Go', async () => {
    const printed = await runUnderExec(['sandbox_test.go', 'shop_test.go'], 'go', 'test', '-v', './...')
    expect(printed).toContain('--- PASS: TestOneFailure')
  })

  it.skipIf(!HAS_GO)('open a space of its own for each test in Go', async () => {
    const printed = await runUnderExec(['sandbox_test.go', 'names_test.go'], 'go', 'test', '-v', './...')
    expect(spacesIn(printed).size).toBe(4)
  })
})
