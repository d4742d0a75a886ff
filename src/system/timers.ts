/**
 * The machine's timers, read when the package is loaded: fake timers that a test installs later in the same process do
 * not stop the sandbox.
 */
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis
