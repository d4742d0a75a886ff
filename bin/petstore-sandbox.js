#!/usr/bin/env node
import module from 'node:module'

// Node 22.8 and later keep compiled code for the next start.
module.enableCompileCache?.()
const { main } = await import('../dist/cli.js')

process.exitCode = await main()
