import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from './clients.js'
import { CONDITIONS, PRELUDE, timeoutIn } from './conditions.js'
import type { Said } from './judge.js'

const HERE = import.meta.dirname
/** Ends slow clients; their requests until then are judged. */
const LIMIT_MS = 15_000
/** Chromium takes seconds to start on a busy machine. */
const PAGE_LIMIT_MS = 90_000
const limitOf = ({ script }: Client): number => (script?.[0] === 'page.mjs' ? PAGE_LIMIT_MS : LIMIT_MS)

export const MODES = ['serve', 'exec', 'space', 'in-process'] as const
export type Mode = (typeof MODES)[number]

/** The tested build. */
export interface Target {
  /** A clone with a build. */
  readonly directory: string
  /** Runs the sandbox. */
  readonly serverNode: string
}

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
  readonly #target: Target
  readonly #folder = mkdtempSync(join(tmpdir(), 'conduct-proof-'))
  #server: Promise<{ readonly child: ChildProcess; readonly baseUrl: string }> | undefined
  #cells = 0

  constructor(target: Target) {
    this.#target = target
  }

  async run(client: Client, condition: string, mode: Mode): Promise<Ran> {
    const startedAt = Date.now()
    this.#cells++
    const ran = await (mode === 'exec'
      ? this.#exec(client, condition)
      : mode === 'in-process'
        ? this.#inProcess(client, condition)
        : this.#served(client, condition, mode === 'space' ? `c${this.#cells}` : undefined))
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
    const env = {
      PETSTORE_BASE_URL: baseUrl,
      PETSTORE_API_KEY: space === undefined ? 'sandbox' : `sandbox~${space}`,
      PETSTORE_SANDBOX_URL: control,
      CONTROL_QUERY: query,
    }
    await this.#shell(client, condition, env)
    const said = await ask<Said>('/conduct')
    const requests = await ask<readonly { readonly id: number }[]>('/requests')
    const firstId = Math.min(...requests.map(({ id }) => id))
    if (space !== undefined) await fetch(`${control}/spaces/${space}`, { method: 'DELETE' })
    return { port: Number(port), said, firstId, stderr: '' }
  }

  async #serve() {
    const child = spawn(this.#target.serverNode, [this.#bin, 'serve', '--port', '0', '--in-memory', '--log', 'json'], {
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const baseUrl = await new Promise<string>((resolve) => {
      let text = ''
      child.stderr?.on('data', (piece) => {
        text += piece
        const ready = /"baseUrl":"([^"]+)"/.exec(text)?.[1]
        if (ready !== undefined) resolve(ready)
        if (text.length > 65_536) text = ''
      })
    })
    return { child, baseUrl }
  }

  async #exec(client: Client, condition: string) {
    const report = join(this.#folder, `${this.#cells}.json`)
    const address = join(this.#folder, `${this.#cells}.url`)
    const script = `printf %s "$PETSTORE_BASE_URL" >${address}\n${this.#commandOf(client, condition)}`
    const args = [this.#bin, 'exec', '--report', report, '--', 'sh', '-c', script]
    const stderr = await this.#end(spawn(this.#target.serverNode, args, this.#options(client, condition, {})))
    const port = Number(new URL(readFileSync(address, 'utf8')).port)
    return { port, said: JSON.parse(readFileSync(report, 'utf8')) as Said, firstId: 1, stderr }
  }

  async #inProcess(client: Client, condition: string) {
    const isHere = client.script !== undefined
    const { command, script } = this.#parts(client, condition)
    const args = [
      join(HERE, 'in-process.mjs'),
      join(this.#target.directory, 'dist/index.js'),
      isHere ? command.prelude : `${command.prelude}${command.client}`,
      ...(isHere ? [join(HERE, script[0] ?? ''), ...script.slice(1)] : []),
    ]
    const options = this.#options(client, condition, { LIMIT_MS: String(limitOf(client) - 2000) })
    const child = spawn(this.#target.serverNode, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    child.stdout?.on('data', (piece) => {
      out += piece
    })
    const stderr = await this.#end(child)
    if (out === '') throw new Error(`in process: ${stderr}`)
    const { port, said } = JSON.parse(out)
    return { port, said: said as Said, firstId: 1, stderr }
  }

  get #bin(): string {
    return join(this.#target.directory, 'bin/petstore-sandbox.js')
  }

  async #shell(client: Client, condition: string, env: NodeJS.ProcessEnv): Promise<void> {
    await this.#end(spawn('sh', ['-c', this.#commandOf(client, condition)], this.#options(client, condition, env)))
  }

  /** The shell limits the time, so that `exec` still writes its report. */
  #commandOf(client: Client, condition: string): string {
    const { prelude, client: command } = this.#parts(client, condition).command
    const inner = `${PRELUDE}${command}`.replaceAll("'", `'\\''`)
    return `${prelude}timeout ${limitOf(client) / 1000 - 2} sh -c '${inner}' 2>/dev/null || true`
  }

  #parts({ command, script = ['client.mjs'], senders }: Client, condition: string) {
    const stated = senders === undefined ? '' : `c PATCH /settings '{"senders":${senders}}'\n`
    const [file, ...args] = script
    const quoted = args.map((each) => `'${each}'`).join(' ')
    return {
      command: {
        prelude: `${PRELUDE}${stated}${CONDITIONS[condition]}\n`,
        client: command ?? `exec "$NODE" "$HERE/${file}" ${quoted}`,
      },
      script,
    }
  }

  #options({ isNamed }: Client, condition: string, env: NodeJS.ProcessEnv) {
    const timeout = timeoutIn(condition)
    return {
      cwd: this.#folder,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        HERE,
        NODE: process.execPath,
        CLIENT_TIMEOUT_MS: String(timeout),
        S: String(timeout / 1000),
        NAMED_SENDERS: isNamed ? '1' : '',
        ...env,
      },
    }
  }

  /** @returns its stderr */
  async #end(child: ChildProcess): Promise<string> {
    let text = ''
    child.stderr?.on('data', (piece) => {
      text += piece
    })
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, PAGE_LIMIT_MS * 2)
    await once(child, 'close')
    clearTimeout(timer)
    return text
  }
}
