import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packageDirectory } from '../../../src/system/package-files.js'
import type { Client } from './clients.js'
import { CONDITIONS, PRELUDE, timeoutIn } from './conditions.js'
import type { Said } from './judge.js'

const HERE = import.meta.dirname
const BIN = join(packageDirectory, 'bin/petstore-sandbox.js')
/** Chromium takes seconds to start on a busy machine. */
const PAGE_LIMIT_MS = 90_000
/** Ends slow clients; their requests until then are judged. */
const limitOf = ({ script }: Client): number => (script?.[0] === 'page.mjs' ? PAGE_LIMIT_MS : 15_000)

export const MODES = ['serve', 'exec', 'space', 'in-process'] as const
export type Mode = (typeof MODES)[number]

/** The result of one client under one condition. */
export interface Ran {
  readonly port: number
  /** The sandbox's id of its first request. */
  readonly firstId: number
  readonly startedAt: number
  readonly endedAt: number
  readonly said: Said
  /** `exec` only. */
  readonly stderr: string
}

/** Runs cells one after the other. Several slots run in parallel. */
export class Slot {
  readonly #folder = mkdtempSync(join(tmpdir(), 'conduct-proof-'))
  #server: Promise<{ readonly child: ChildProcess; readonly baseUrl: string }> | undefined
  #cells = 0

  async run(client: Client, condition: string, mode: Mode): Promise<Ran> {
    const startedAt = Date.now()
    this.#cells++
    const space = mode === 'space' ? `c${this.#cells}` : undefined
    const ran = await (mode === 'exec'
      ? this.#exec(client, condition)
      : mode === 'in-process'
        ? this.#inProcess(client, condition)
        : this.#served(client, condition, space))
    return { ...ran, startedAt, endedAt: Date.now() }
  }

  async close(): Promise<void> {
    const server = await this.#server
    server?.child.kill()
  }

  async #served(client: Client, condition: string, space: string | undefined) {
    this.#server ??= this.#serve()
    const { baseUrl } = await this.#server
    const { origin, port } = new URL(baseUrl)
    const control = `${origin}/__sandbox`
    const query = space === undefined ? '' : `space=${space}`
    const ask = async <Shape>(path: string) => (await fetch(`${control}${path}?${query}`)).json() as Promise<Shape>
    if (space === undefined) await fetch(`${control}/reset`, { method: 'POST' })
    const key = space === undefined ? 'sandbox' : `sandbox~${space}`
    const env = { PETSTORE_BASE_URL: baseUrl, PETSTORE_API_KEY: key, PETSTORE_SANDBOX_URL: control }
    const options = this.#options(client, condition, { ...env, CONTROL_QUERY: query })
    await this.#end(spawn('sh', ['-c', this.#commandOf(client, condition)], options))
    const said = await ask<Said>('/conduct')
    const requests = await ask<readonly { readonly id: number }[]>('/requests')
    const firstId = Math.min(...requests.map(({ id }) => id))
    if (space !== undefined) await fetch(`${control}/spaces/${space}`, { method: 'DELETE' })
    return { port: Number(port), said, firstId, stderr: '' }
  }

  async #serve() {
    const args = [BIN, 'serve', '--port', '0', '--in-memory', '--log', 'json']
    const child = spawn(process.execPath, args, { cwd: this.#folder, stdio: ['ignore', 'ignore', 'pipe'] })
    const baseUrl = await new Promise<string>((resolve) => {
      let said = ''
      child.stderr.on('data', (piece) => {
        said = (said + piece).slice(-65_536)
        const ready = /"baseUrl":"([^"]+)"/.exec(said)?.[1]
        if (ready !== undefined) resolve(ready)
      })
    })
    return { child, baseUrl }
  }

  async #exec(client: Client, condition: string) {
    const report = join(this.#folder, `${this.#cells}.json`)
    const address = join(this.#folder, `${this.#cells}.url`)
    const script = `printf %s "$PETSTORE_BASE_URL" >${address}\n${this.#commandOf(client, condition)}`
    const args = [BIN, 'exec', '--report', report, '--', 'sh', '-c', script]
    const { stderr } = await this.#end(spawn(process.execPath, args, this.#options(client, condition)))
    const port = Number(new URL(readFileSync(address, 'utf8')).port)
    return { port, said: JSON.parse(readFileSync(report, 'utf8')) as Said, firstId: 1, stderr }
  }

  async #inProcess(client: Client, condition: string) {
    const { prelude, command } = partsOf(client, condition)
    const [file = '', ...rest] = client.script ?? []
    const args = [
      join(HERE, 'in-process.mjs'),
      join(packageDirectory, 'dist/index.js'),
      file === '' ? prelude + command : prelude,
      ...(file === '' ? [] : [join(HERE, file), ...rest]),
    ]
    const options = this.#options(client, condition, { LIMIT_MS: String(limitOf(client) - 2000) })
    const { stdout, stderr } = await this.#end(spawn(process.execPath, args, options))
    if (stdout === '') throw new Error(`in process: ${stderr}`)
    const { port, said } = JSON.parse(stdout)
    return { port, said: said as Said, firstId: 1, stderr }
  }

  /** The shell limits the time, so that `exec` still writes its report. */
  #commandOf(client: Client, condition: string): string {
    const { prelude, command } = partsOf(client, condition)
    const inner = `${PRELUDE}${command}`.replaceAll("'", `'\\''`)
    return `${prelude}timeout ${limitOf(client) / 1000 - 2} sh -c '${inner}' >/dev/null 2>&1 || true`
  }

  #options({ isNamed }: Client, condition: string, env: NodeJS.ProcessEnv = {}): SpawnOptions {
    const timeout = timeoutIn(condition)
    const own = { HERE, NODE: process.execPath, CLIENT_TIMEOUT_MS: String(timeout), S: String(timeout / 1000) }
    return {
      cwd: this.#folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...own, NAMED_SENDERS: isNamed ? '1' : '', ...env },
    }
  }

  async #end(child: ChildProcess): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, PAGE_LIMIT_MS * 2)
    const { stdout, stderr } = child
    const printed = Promise.all([stdout === null ? '' : text(stdout), stderr === null ? '' : text(stderr)])
    await once(child, 'close')
    clearTimeout(timer)
    const [out, err] = await printed
    return { stdout: out, stderr: err }
  }
}

function partsOf({ command, script = ['client.mjs'], senders }: Client, condition: string) {
  const stated = senders === undefined ? '' : `c PATCH /settings '{"senders":${senders}}'\n`
  const [file, ...args] = script
  const quoted = args.map((each) => `'${each}'`).join(' ')
  return {
    prelude: `${PRELUDE}${stated}${CONDITIONS[condition]}\n`,
    command: command ?? `exec "$NODE" "$HERE/${file}" ${quoted}`,
  }
}
