import { spawnSync } from 'node:child_process'
import { requireTool } from './tools.js'

export const PYTHON = process.env.PYTHON ?? 'python3'

/** Whether there is a Python to test with. */
export const HAS_PYTHON = requireTool('Python', () => spawnSync(PYTHON, ['--version']).status === 0)
