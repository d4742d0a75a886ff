import { chooseLoad } from './load.js'
import { FULL, measure, QUICK } from './measures.js'
import { publish, report } from './report.js'
import { busyShare, installPeers, readFlags, say } from './tools.js'

const { isQuick, writesDocs } = readFlags()
installPeers()
const begun = performance.now()
const busy = await busyShare()
const { name, load } = chooseLoad()
const text = report(await measure(isQuick ? QUICK : FULL, load), name, busy)
say(`done in ${Math.round((performance.now() - begun) / 1_000)} s\n`)
publish(text, writesDocs)
