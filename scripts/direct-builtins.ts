import { isBuiltin } from 'node:module'
import type { Plugin } from 'esbuild'

/**
 * Takes Node's own modules from `process.getBuiltinModule`. An `import` reads all their exports, and on Node 22 and
 * later that of `node:http` loads Node's whole fetch, which is a sixth of a start.
 */
export const directBuiltins: Plugin = {
  name: 'direct-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' && isBuiltin(path) ? { path, namespace: 'builtin', sideEffects: false } : undefined,
    )
    onLoad({ filter: /^/, namespace: 'builtin' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default')
      // Unused ones are dropped, so that only those used are read.
      const exported = names.map((name) => `export const ${name} = /* @__PURE__ */ of('${name}')\n`)
      return {
        contents: `const all = process.getBuiltinModule('${path}')\nconst of = (name) => all[name]\nexport default all\n${exported.join('')}`,
      }
    })
  },
}
