#!/usr/bin/env node
const module = process.getBuiltinModule('node:module')

// Node 22.8 and later keep compiled code for the next start. With NODE_COMPILE_CACHE, Node does so on its own.
if (module.getCompileCacheDir && !module.getCompileCacheDir() && !process.env.NODE_DISABLE_COMPILE_CACHE) {
  const { openCompileCache } = await import('../dist/compile-cache.js')
  const folder = openCompileCache()
  if (folder) module.enableCompileCache(folder)
}
const { main } = await import('../dist/cli.js')

process.exitCode = await main()
