import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { freePort } from '../support/redis-server.js'
import { type Recipe, recipe } from './recipes.js'

/** A script that runs, or has ended. */
export interface Run {
  /** Its output so far, on stdout and stderr. */
  said(): string
  /** Resolves with the first match in the output. Rejects if the script ends before. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  /** Its exit code, 128+n where a signal ended it. */
  readonly code: Promise<number>
  /** As Ctrl-C on a terminal: signals it and all its processes. */
  interrupt(): Promise<number>
}

/** A user's project, on ports of its own. */
export interface Project {
  readonly folder: string
  readonly origin: string
  readonly shop: string
  /** Starts a script in the project's folder. */
  run(script: string): Run
}

/** Where the documents have the sandbox, and Vite has itself. */
const PRINTED_PORTS = { sandbox: '4010', vite: '5173' }

/** Does a recipe's first part in a project: its files are written. Its scripts come with the ports of the project. */
export async function follow(name: string, projectName: string): Promise<Project & Recipe> {
  const { files, scripts } = recipe(name)
  const { here, ...project } = await openProject(projectName)
  for (const [path, content] of files) {
    mkdirSync(dirname(join(project.folder, path)), { recursive: true })
    writeFileSync(join(project.folder, path), here(content))
  }
  return { ...project, files, scripts: scripts.map(here) }
}

/** @returns with `here`, which puts the ports of the project into a text */
export async function openProject(projectName: string): Promise<Project & { here(text: string): string }> {
  const folder = join(inject('projects'), projectName)
  const [sandbox, vite] = [String(await freePort()), String(await freePort())]
  const here = (text: string) => text.replaceAll(PRINTED_PORTS.sandbox, sandbox).replaceAll(PRINTED_PORTS.vite, vite)
  const origin = `http://127.0.0.1:${sandbox}`
  const shop = `http://localhost:${vite}`
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    NO_COLOR: '1',
    CHROMIUM: process.env.CHROMIUM ?? '/usr/bin/chromium',
    PETSTORE_SANDBOX_PORT: sandbox,
    VITE_PORT: vite,
    SHOP: shop,
  }
  return { folder, origin, shop, here, run: (script) => start(script, folder, env) }
}

function start(script: string, cwd: string, env: NodeJS.ProcessEnv): Run {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, detached: true, stdio: 'pipe' })
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-Number(child.pid), name)
    } catch {
      // All have ended.
    }
  }
  onTestFinished(() => signal('SIGKILL'))
  let text = ''
  let look = () => {}
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      text += piece
      look()
    })
  child.stdin.end()
  let isOver = false
  const code = once(child, 'close').then(([exit]) => {
    isOver = true
    look()
    return Number(exit)
  })
  return {
    said: () => text,
    async says(pattern) {
      for (;;) {
        const match = pattern.exec(text)
        if (match !== null) return match
        if (isOver) throw new Error(`${script} has ended without ${pattern}:\n${text}`)
        await new Promise<void>((resolve) => {
          look = resolve
        })
      }
    },
    code,
    interrupt() {
      signal('SIGINT')
      return code
    },
  }
}
