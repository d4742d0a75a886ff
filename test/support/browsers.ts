import { existsSync } from 'node:fs'
import { requireTool } from './tools.js'

/** Default: Debian's paths. */
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
export const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr'

export const HAS_CHROMIUM = requireTool('Chromium', () => existsSync(CHROMIUM))
export const HAS_FIREFOX = requireTool('Firefox', () => existsSync(FIREFOX))
