import { spawnSync } from 'node:child_process'
import { requireTool } from './tools.js'

export const PYTHON = process.env.PYTHON ?? 'python3'

export const HAS_PYTHON = requireTool('Python', () => spawnSync(PYTHON, ['--version']).status === 0)
