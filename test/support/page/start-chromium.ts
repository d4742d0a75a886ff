import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { browserTwins } from '../../../scripts/build-browser.js'
import { packageDirectory } from '../../../src/system/package-files.js'
import { CHROMIUM } from '../browsers.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Addresses of Chromium and of its page. */
    readonly chromium: { readonly endpoint: string; readonly script: string }
  }
}

/** Starts one Chromium for all workers, and bundles the sandbox for its pages from the sources. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'in-chromium-'))
  const script = join(folder, 'sandboxes.js')
  await build({
    absWorkingDir: packageDirectory,
    entryPoints: ['test/support/page/sandboxes.ts'],
    outfile: script,
    bundle: true,
    platform: 'browser',
    target: 'chrome111',
    // Tests read the current folder; a page has none.
    define: { 'process.cwd': 'String' },
    plugins: [browserTwins],
    logLevel: 'warning',
  })
  const server = await chromium.launchServer({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  })
  provide('chromium', { endpoint: server.wsEndpoint(), script })
  return async () => {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
