import { spawn } from 'node:child_process'
import { messageOf } from '../../system/message-of.js'

export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): Promise<string | undefined> {
  const [command, ...args] = browserCommand(platform, url)
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true })
    child.once('error', (error) => resolve(messageOf(error)))
    child.once('exit', (code) => resolve(code === 0 ? undefined : `${command} ended with ${code}`))
    // xdg-open may run as long as the browser.
    child.unref()
  })
}

/** On Windows, the first quoted word after `start` is a window title. */
export function browserCommand(platform: NodeJS.Platform, url: string): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', url]
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', url.replaceAll('&', '^&')]
  return ['xdg-open', url]
}
