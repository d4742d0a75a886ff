import { digestLine } from './run.js'

/** Prints one line for what machines say to the commands of a seed: `tsx test/machine/digest.ts <seed>`. */
const [seed = '1'] = process.argv.slice(2)
process.stdout.write(`${await digestLine(seed)}\n`)
