import { expect, it, onTestFinished, vi } from 'vitest'
import type * as SystemClock from '../../src/system/system-clock.js'

it('uses the timers of Node where the global ones are those of a window, as in jsdom', async () => {
  vi.stubGlobal('setTimeout', (act: () => void) => {
    queueMicrotask(act)
    return 1
  })
  vi.stubGlobal('setInterval', () => 1)
  vi.stubGlobal('setImmediate', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  // A module of its own, because it reads the timers when it is loaded.
  const path = '../../src/system/system-clock.js?window'
  const { setInterval, clearInterval, later }: typeof SystemClock = await import(path)
  const timer = setInterval(() => {}, 1000)
  expect(timer.unref()).toBe(timer)
  clearInterval(timer)
  expect(await new Promise((resolve) => later(0, resolve))).toEqual(expect.any(Number))
})
