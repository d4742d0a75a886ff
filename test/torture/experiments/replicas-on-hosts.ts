import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageDirectory } from '../../../src/system/package-files.js'
import { HAS_REDIS } from '../../support/redis-server.js'
import { requireTool } from '../../support/tools.js'
import { Hosts } from '../hosts.js'
import type { OnHosts } from '../on-hosts.js'
import type { Experiment } from '../trial.js'

const REPLICAS = 3

/** Three hosts with networks of their own; one loses Redis, but not its clients, and finds it again. */
export const replicasOnHosts: Experiment = {
  counts: 'lists, pets and quotas on three hosts, checked against acknowledged ones',
  async run(trial) {
    const canSplit = requireTool('ip (or the right to make network namespaces)', Hosts.arePossible)
    if (!canSplit || !HAS_REDIS) return trial.note('left out: no redis-server, or no network namespaces')
    const hosts = Hosts.create(REPLICAS)
    trial.afterwards(() => hosts.remove())
    // Only a process in the network between the hosts reaches all of them.
    const program = ['--import', 'tsx', join(packageDirectory, 'test/torture/on-hosts.ts')]
    const arguments_ = [trial.seed, trial.isShort ? 'short' : 'long', hosts.name, String(REPLICAS)]
    const child = spawn('ip', ['netns', 'exec', hosts.name, process.execPath, ...program, ...arguments_], {
      cwd: packageDirectory,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let told = ''
    child.stdout.on('data', (text) => {
      told += text
    })
    await once(child, 'close')
    if (told === '') throw new Error('the hosts have told nothing')
    const { survived, losses, notes } = JSON.parse(told) as OnHosts
    trial.survive(survived)
    for (const loss of losses) trial.lose(loss)
    for (const note of notes) trial.note(note)
  },
}
