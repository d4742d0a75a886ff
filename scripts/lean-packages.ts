import type { Plugin } from 'esbuild'

/** What packages ask for, and what they are given in its place. */
const INSTEAD: Readonly<Record<string, string>> = {
  // Its CommonJS files are UMD, whose requires no bundler can follow.
  'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  // Node's own is deprecated, and says so to whoever uses it.
  punycode: 'punycode/punycode.js',
}

/** Text of modules that packages are given in the place of others. */
const REWRITTEN: Readonly<Record<string, string>> = {
  // It would write to stderr what is sent to Redis, passwords too, for whoever has set DEBUG for something else.
  debug: 'module.exports = () => Object.assign(() => {}, { enabled: false }); module.exports.default = module.exports',
  // Prism never sets another language than English; all of them are 5 MB.
  '@faker-js/faker': "exports.default = require('@faker-js/faker/locale/en')",
  // A contract is OpenAPI (read-contract.ts) before Prism is given it.
  '@stoplight/http-spec/postman/operation':
    "exports.transformPostmanCollectionOperations = () => { throw new Error('A Postman collection is no contract.') }",
}

/** What commander loads for commands that are programs of their own, of which there is none; it would take every start 0.6 ms. */
const OF_NO_COMMAND = 'node:child_process'
const COMMANDER = /[\\/]node_modules[\\/]commander[\\/]/

/** What packages look for and do without; Node 20 has no SQLite, which undici would keep answers in. */
export const OPTIONAL: ReadonlySet<string> = new Set(['encoding', 'pino-pretty', 'node:sqlite'])

/** Bundles of other people's packages only what can run here. */
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
