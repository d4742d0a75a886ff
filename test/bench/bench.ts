import { parseArgs } from 'node:util'
import { busyShare } from './busy.js'
import { FULL, QUICK } from './extent.js'
import { installPeers } from './install-peers.js'
import { lineUp } from './line-up.js'
import { chooseLoad } from './load/load.js'
import { say } from './progress.js'
import { writeReadmeSection } from './report/readme-section.js'
import { report } from './report/report.js'
import { measure } from './results.js'

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, 'write-readme': { type: 'boolean' } } })
if (values.quick && values['write-readme']) throw new Error('The figures of a quick run do not belong into the README.')

installPeers()
const begun = performance.now()
const busy = await busyShare()
const extent = values.quick ? QUICK : FULL
const { name, load } = chooseLoad()
const results = await measure(await lineUp(extent), extent, load)
const text = report(results, { now: new Date(), load: name, busy })
say(`done in ${Math.round((performance.now() - begun) / 1_000)} s\n`)
process.stdout.write(`${text}\n`)
if (values['write-readme']) writeReadmeSection(text)
