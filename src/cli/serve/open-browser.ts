import { spawn } from 'node:child_process'
import { messageOf } from '../../system/message-of.js'

/**
 * Opens an address in the browser of whoever sits here, by the system's own command.
 *
 * @returns why it could not be opened, undefined if it was
 */
export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): Promise<string | undefined> {
  const [command, ...args] = openerOf(platform, url)
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true })
    child.once('error', (error) => resolve(messageOf(error)))
    child.once('exit', (code) => resolve(code === 0 ? undefined : `${command} ended with ${code}`))
    // A browser that xdg-open has started itself runs on as long as it likes.
    child.unref()
  })
}

/** The first quoted word after `start` would be a window's title. */
export function openerOf(platform: NodeJS.Platform, url: string): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', url]
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', url.replaceAll('&', '^&')]
  return ['xdg-open', url]
}
