import { existsSync } from 'node:fs'
import { requireTool } from './tools.js'

/** Where the browsers are: Debian's, unless the environment says otherwise. */
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
export const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr'

/** Whether there are such browsers to test with. */
export const HAS_CHROMIUM = requireTool('Chromium', () => existsSync(CHROMIUM))
export const HAS_FIREFOX = requireTool('Firefox', () => existsSync(FIREFOX))
