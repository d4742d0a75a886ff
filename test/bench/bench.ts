import { parseArgs } from 'node:util'
import { busyShare } from './busy.js'
import { FULL, QUICK } from './extent.js'
import { installPeers } from './install-peers.js'
import { lineUp } from './line-up.js'
import { chooseLoad } from './load/load.js'
import { say } from './progress.js'
import { report } from './report/report.js'
import { writeSection } from './report/write-section.js'
import { measure } from './results.js'

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, 'write-docs': { type: 'boolean' } } })
if (values.quick && values['write-docs'])
  throw new Error('The figures of a quick run do not belong into the documents.')

installPeers()
const begun = performance.now()
const busy = await busyShare()
const extent = values.quick ? QUICK : FULL
const { name, load } = chooseLoad()
const results = await measure(await lineUp(extent), extent, load)
const text = report(results, { now: new Date(), load: name, busy })
say(`done in ${Math.round((performance.now() - begun) / 1_000)} s\n`)
process.stdout.write(`${text}\n`)
if (values['write-docs']) writeSection('bench', text)
