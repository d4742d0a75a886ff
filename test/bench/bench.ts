import { parseArgs } from 'node:util'
import { chooseLoad } from './load.js'
import { FULL, lineUp, measure, QUICK } from './measures.js'
import { report, writeSection } from './report.js'
import { busyShare, installPeers, say } from './tools.js'

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
