import { generateContract } from './contract/generate.js'

await generateContract()
