import type { Plugin } from 'esbuild'

/** Replacements for modules that packages import. */
const INSTEAD: Readonly<Record<string, string>> = {
  // lodash/fp makes its own copy; the same text twice is 25 kB more to download.
  './lodash.min': './lodash.js',
  // Its CommonJS files are UMD, whose requires no bundler can follow.
  'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  // Node's own is deprecated, and prints a warning.
  punycode: 'punycode/punycode.js',
}

/** Source text of replacement modules. */
const REWRITTEN: Readonly<Record<string, string>> = {
  // With DEBUG set, it would print everything sent to Redis on stderr, passwords included.
  debug: 'module.exports = () => Object.assign(() => {}, { enabled: false }); module.exports.default = module.exports',
  // Prism gets examples rather than schemas (prism.ts), so it makes no values; the names and words are 600 kB.
  '@faker-js/faker': 'exports.default = {}',
  // Node has it; its tables are 260 kB.
  'whatwg-url': 'module.exports = { URL, URLSearchParams }',
  // Its own fetch, WebSocket, cache and mocks are half of it.
  undici:
    "exports.Pool = require('undici/lib/dispatcher/pool.js'); exports.ProxyAgent = require('undici/lib/dispatcher/proxy-agent.js'); Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api/index.js'))",
  // A contract is OpenAPI (read-contract.ts) before Prism is given it.
  '@stoplight/http-spec/postman/operation':
    "exports.transformPostmanCollectionOperations = () => { throw new Error('A Postman collection is no contract.') }",
}

/** commander loads it for commands that are separate programs; it would take every start 0.6 ms. */
const OF_NO_COMMAND = 'node:child_process'
const COMMANDER = /[\\/]node_modules[\\/]commander[\\/]/

/** Optional modules; Node 20 has no SQLite, in which undici would cache responses. */
export const OPTIONAL: ReadonlySet<string> = new Set(['encoding', 'pino-pretty', 'node:sqlite'])

export const leanPackages: Plugin = {
  name: 'lean-packages',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: anyOf(Object.keys(INSTEAD)) }, ({ path, kind, resolveDir }) =>
      resolve(INSTEAD[path] ?? path, { kind, resolveDir }),
    )
    onResolve({ filter: anyOf(OPTIONAL) }, ({ path }) => ({ path, external: true }))
    onResolve({ filter: anyOf([OF_NO_COMMAND]) }, ({ path, importer }) =>
      COMMANDER.test(importer) ? { path, namespace: 'rewritten' } : undefined,
    )
    onResolve({ filter: anyOf(Object.keys(REWRITTEN)) }, ({ path, resolveDir }) => ({
      path,
      namespace: 'rewritten',
      pluginData: resolveDir,
    }))
    onLoad({ filter: /.*/, namespace: 'rewritten' }, ({ path, pluginData }) => ({
      contents: REWRITTEN[path] ?? '',
      resolveDir: pluginData,
    }))
  },
}

function anyOf(names: Iterable<string>): RegExp {
  return new RegExp(`^(?:${[...names].join('|')})$`)
}
