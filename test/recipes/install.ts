import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { packageDirectory } from '../../src/system/package-files.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the projects. */
    readonly projects: string
  }
}

/** npm 10 cannot install Vite 8. */
const FIRST_NPM_FOR_VITE_8 = 11

/** Makes the projects from scratch: their own tools from the registry, and this package as it is packed. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'recipes-'))
  const projects = join(folder, 'projects')
  cpSync(join(packageDirectory, 'test/recipes/projects'), projects, { recursive: true })
  const tarball = process.env.PACKED ?? pack(folder)
  const isOld = Number.parseInt(execFileSync('npm', ['--version'], { encoding: 'utf8' }), 10) < FIRST_NPM_FOR_VITE_8
  for (const name of readdirSync(projects)) {
    cpSync(join(packageDirectory, 'test/recipes/chromium.js'), join(projects, name, 'chromium.js'))
    if (isOld) takeVite7(join(projects, name, 'package.json'))
    const words = ['install', '--save-dev', '--no-audit', '--no-fund', '--prefer-offline', tarball]
    // One after the other: they share a cache, and mostly wait for the same disk.
    await promisify(execFile)('npm', words, { cwd: join(projects, name) })
  }
  provide('projects', projects)
  // Staggered: workers that end at the same time must all be handled.
  return () => rm(folder, { recursive: true, force: true })
}

function pack(folder: string): string {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: packageDirectory })
  return join(folder, String(readdirSync(folder).find((name) => name.endsWith('.tgz'))))
}

function takeVite7(file: string): void {
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  const { devDependencies } = manifest
  if (devDependencies.vite !== undefined) devDependencies.vite = '^7'
  writeFileSync(file, JSON.stringify({ ...manifest, overrides: { vite: '^7' } }))
}
