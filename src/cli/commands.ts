import type { CommandEntry } from './io.js'
import { define as defineServe } from './serve.js'

const entry = (name: string, summary: string, load: CommandEntry['load']): CommandEntry => ({ name, summary, load })

/** All commands, in the order of the help. `serve` is loaded at once, because it must start fast. */
export const COMMANDS: readonly CommandEntry[] = [
  entry('serve', 'start the sandbox and keep it running', async () => ({ define: defineServe })),
  entry('call', 'call an operation of the sandbox, staging or production', () => import('./call.js')),
  entry('exec', 'start a sandbox, run a command against it, stop it', () => import('./exec.js')),
  entry('conform', 'test a client against named failures', () => import('./conform.js')),
  entry('verify', 'check an instance (mock or real) against the contract', () => import('./verify.js')),
  entry('simulate', 'simulate recorded traffic on each plan', () => import('./simulate.js')),
  entry('control', 'control a running sandbox: reset, clock, storm, ban, keys …', () => import('./control.js')),
  entry('target', 'manage base addresses and their API keys', () => import('./target.js')),
  entry('init', 'write a config file and editable fixtures here', () => import('./init.js')),
  entry('playground', 'run the sandbox in a browser, without a server', () => import('./playground.js')),
  entry('completion', 'complete commands in bash, zsh or fish', () => import('./completion.js')),
]
