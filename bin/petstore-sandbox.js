#!/usr/bin/env node
import module from 'node:module'

// From Node 22.8 on, a later start compiles nothing again.
module.enableCompileCache?.()
const { main } = await import('../dist/cli.js')

process.exitCode = await main()
