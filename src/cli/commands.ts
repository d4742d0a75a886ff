import type { CommandEntry } from './command-file.js'
import { define as defineServe } from './serve.js'

/** Every command there is, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'serve', summary: 'start the sandbox and keep it running', load: async () => ({ define: defineServe }) },
  {
    name: 'call',
    summary: 'call an operation of the sandbox, staging or production',
    load: () => import('./call.js'),
  },
  {
    name: 'exec',
    summary: 'start a sandbox, run a command against it, stop it',
    load: () => import('./exec.js'),
  },
  {
    name: 'verify',
    summary: 'check an instance (mock or real) against the contract',
    load: () => import('./verify.js'),
  },
  {
    name: 'simulate',
    summary: 'what recorded traffic would have met on each plan',
    load: () => import('./simulate.js'),
  },
  {
    name: 'control',
    summary: 'control a running sandbox: reset, clock, storm, ban, keys …',
    load: () => import('./control.js'),
  },
  {
    name: 'target',
    summary: "base addresses and where each one's key comes from",
    load: () => import('./target.js'),
  },
  {
    name: 'init',
    summary: 'write a config file and editable fixtures here',
    load: () => import('./init.js'),
  },
  {
    name: 'playground',
    summary: 'open the sandbox in a browser, where it runs by itself',
    load: () => import('./playground.js'),
  },
  {
    name: 'completion',
    summary: 'complete commands in bash, zsh or fish',
    load: () => import('./completion.js'),
  },
]
