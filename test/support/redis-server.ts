import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireTool } from './tools.js'

export const HAS_REDIS = requireTool('redis-server', () => spawnSync('redis-server', ['--version']).status === 0)

/** A redis-server on a free port, with its data in a temporary folder. */
export class RedisServer {
  readonly port: number
  readonly folder: string
  readonly #flags: readonly string[]
  #child: ChildProcess

  private constructor(port: number, folder: string, flags: readonly string[]) {
    this.port = port
    this.folder = folder
    this.#flags = flags
    this.#child = this.#spawn()
  }

  /** @param flags in addition to flags for synchronous persistence */
  static async start(...flags: readonly string[]): Promise<RedisServer> {
    const folder = mkdtempSync(join(tmpdir(), 'redis-'))
    const server = new RedisServer(await freePort(), folder, flags)
    await server.#untilReady()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  get pid(): number {
    return Number(this.#child.pid)
  }

  /** Runs a command with redis-cli. */
  ask(...words: readonly string[]): string {
    return execFileSync('redis-cli', ['-p', String(this.port), ...words], { encoding: 'utf8' }).trim()
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  async startAgain(): Promise<void> {
    this.#child = this.#spawn()
    await this.#untilReady()
  }

  hang(): void {
    this.#child.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  async end(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.goOn()
      await this.kill()
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  #spawn(): ChildProcess {
    const settings = {
      port: String(this.port),
      bind: '127.0.0.1',
      dir: this.folder,
      appendonly: 'yes',
      appendfsync: 'always',
      save: '',
      'repl-diskless-sync-delay': '0',
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
    return spawn('redis-server', [...flags, ...this.#flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  }

  async #untilReady(): Promise<void> {
    const { stdout } = this.#child
    if (stdout === null) throw new Error('redis-server has no stdout')
    let output = ''
    for await (const text of stdout) {
      output += text
      if (output.includes('Ready to accept connections')) {
        // Discards further output.
        stdout.resume()
        return
      }
    }
    throw new Error(`redis-server ended: ${output}`)
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
